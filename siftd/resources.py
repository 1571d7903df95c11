"""Where the files that travel with the package are: inside a wheel, or beside it in a checkout."""

from __future__ import annotations

import sys
from pathlib import Path


def entry_point() -> str:
    """Return the file that is `siftd`, to be run by its path: a name may lead to another package."""
    return str(Path(__file__).absolute().with_name("__main__.py"))


def hooks_folder() -> Path:
    """Return the folder of the hook scripts."""
    return _folder("hooks")


def schema_folder() -> Path:
    """Return the folder of the numbered SQL files."""
    return _folder("schema")


def _folder(name: str) -> Path:
    package = Path(__file__).absolute().parent
    carried = package / "_data" / name
    return carried if carried.is_dir() else package.parent / name


def server_entry(surface: str = "default") -> dict[str, object]:
    """Return how an MCP server of this very installation is started; it needs no shell profile and no PATH."""
    arguments = ["-I", entry_point(), "mcp"]
    return {"command": sys.executable, "args": [*arguments, "--tools", surface] if surface != "default" else arguments}
