"""Which siftd was installed here: the interpreter and the package, for the plugin, which is installed apart from both.

    $SIFTD_HOME/<ns>/installation, mode 0600, replaced atomically; three lines:

    # siftd-memory c1898e8df9a0f4c43493b3bd11c94a14         our mark, as the package's own files begin with it
    /home/a/.siftd-env/bin/python
    /home/a/.siftd-env/lib/python3.12/site-packages/siftd

A reader takes it only if the file is its user's own and the package's `__init__.py` and `__main__.py` begin with the
mark: what lies there today may be another installation's, or another project's package of that name. The plugin reads
the file of ~/.siftd/default alone: a cloned project's settings may name any other home.
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import siftd
from siftd.errors import SiftdError
from siftd.foreign_file import open_regular, read
from siftd.workspace.home import ensure_folder, write_private
from siftd.workspace.paths import Home

MARKED = ("__init__.py", "__main__.py")
"""The files that are run first, and so have to be ours."""
_LINE_BYTES = 256
_RECORD_BYTES_MAX = 16 * 1024


def record(home: Home) -> None:
    """Note the siftd that is running, and its interpreter, in `home`."""
    package = Path(siftd.__file__).parent
    lines = mark(), sys.executable, str(package)
    if any("\n" in line for line in lines):
        raise SiftdError("siftd lies in a folder with a line break in its name", hint="install it in another")
    ensure_folder(home.folder)
    write_private(Path(home.installation), "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))


def find_recorded(home: Home) -> tuple[str, str] | None:
    """Return the interpreter and the package that are noted in `home`; None when nothing is."""
    try:
        lines = read(home.installation, _RECORD_BYTES_MAX).decode("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    return (lines[1], lines[2]) if len(lines) == 3 and lines[0] == mark() else None


def mark() -> str:
    """Return our mark."""
    return _first_line(Path(siftd.__file__)) or ""


def is_ours(package: Path) -> bool:
    """Whether the package in a folder is a siftd of ours, this one or another. It is read, nothing is run."""
    return all(_first_line(package / name) == mark() for name in MARKED)


def find_others(path: str) -> Iterator[tuple[str, bool]]:
    """Yield each other `siftd` on a PATH, and whether it is one of ours. They are read, nothing is run."""
    own = Path(sysconfig.get_path("scripts"), "siftd").resolve()
    seen = {own}
    for entry in path.split(":"):
        program = Path(entry, "siftd")
        if program.is_file() and program.resolve() not in seen:
            seen.add(program.resolve())
            yield str(program), any(map(is_ours, _packages_of(program)))


def _packages_of(program: Path) -> Iterator[Path]:
    """Yield where the package of a program that an installer made can lie, by the interpreter in its first line."""
    python = (_first_line(program) or "").removeprefix("#!")
    prefix = Path(python).parent.parent
    yield from prefix.glob("lib/python3*/*-packages/siftd")
    for editable in prefix.glob("lib/python3*/site-packages/_editable_impl_siftd_memory.pth"):
        yield Path(_first_line(editable) or "/", "siftd")


def _first_line(path: Path) -> str | None:
    try:
        with open_regular(str(path), follow=True) as file:  # installers may link what they install
            return file.readline(_LINE_BYTES).decode("utf-8", "replace").rstrip("\n")
    except OSError:
        return None
