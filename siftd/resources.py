"""Where the files that travel with the package are: inside a wheel, or beside it in a checkout."""

from __future__ import annotations

from pathlib import Path


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
