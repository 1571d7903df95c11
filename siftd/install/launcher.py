"""The launcher: a few lines of sh between a client's settings and the hook, so that the entry in them never changes.

    $SIFTD_HOME/<ns>/hook.sh, mode 0600, replaced atomically:

    # siftd-memory c1898e8df9a0f4c43493b3bd11c94a14
    test -x /home/a/.siftd-env/bin/python && test -r …/hooks/hook.py &&
      exec /home/a/.siftd-env/bin/python -I -S …/hooks/hook.py "$siftd_client" ${siftd_how:+"$siftd_how"}

An entry reads it into the shell that its client starts anyway, which costs no process:

    siftd_client=codex; test -r /home/a/.siftd/default/hook.sh && . /home/a/.siftd/default/hook.sh; exit 0

So an interpreter that moves changes this file and no entry: some clients run an entry only while it is, to the letter,
what a person has trusted. The exit status is 0 whatever is missing.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Literal

from siftd.errors import SiftdError
from siftd.foreign_file import read
from siftd.install.installation import mark
from siftd.resources import hooks_folder
from siftd.workspace.home import ensure_folder, write_private
from siftd.workspace.paths import Home

_BYTES_MAX = 16 * 1024
_NAME = re.compile(r"[a-z][a-z0-9-]*")


def write_launcher(home: Home) -> None:
    """Make the launcher run the siftd that is running. Raises SiftdError for a path that no shell script can hold."""
    data = _format(sys.executable, str(hooks_folder() / "hook.py"))
    if _read(home) != data:
        ensure_folder(home.folder)
        write_private(Path(home.launcher), data)


def remove_launcher(home: Home) -> None:
    """Take it away; entries that still name it do nothing then."""
    Path(home.launcher).unlink(missing_ok=True)


def is_launcher_current(home: Home) -> bool:
    """Whether it is there and runs this siftd by this interpreter."""
    return _read(home) == _format(sys.executable, str(hooks_folder() / "hook.py"))


def format_entry(launcher: str, client: str, how: Literal["", "quiet"] = "") -> str:
    """Return the shell command of a client's hook entry. `quiet`: nothing may be printed for this event."""
    if not _NAME.fullmatch(client):
        raise ValueError(f"no name of a client: {client}")
    path = quote_path(launcher)
    says = f"siftd_client={client}; " + (f"siftd_how={how}; " if how else "")
    return f"{says}test -r {path} && . {path}; exit 0"


def is_entry(command: object) -> bool:
    """Whether a command in a client's settings is an entry of ours, of whichever home."""
    return isinstance(command, str) and len(command) <= _ENTRY_CHARS_MAX and _ENTRY.fullmatch(command) is not None


_ENTRY_CHARS_MAX = 8_192
"""Of a command: it names a path twice. What is longer, a project's settings have made up."""
_ENTRY = re.compile(
    r"siftd_client=[a-z][a-z0-9-]*; (?:siftd_how=quiet; )?test -r (?P<path>\S.*/hook\.sh'?) && \. (?P=path); exit 0",
    re.DOTALL,
)


def _format(python: str, hook: str) -> bytes:
    p, h = quote_path(python), quote_path(hook)
    run = f'exec {p} -I -S {h} "$siftd_client" ${{siftd_how:+"$siftd_how"}}'
    return f"{mark()}\ntest -x {p} && test -r {h} &&\n  {run}\n".encode()


def _read(home: Home) -> bytes:
    try:
        return read(home.launcher, _BYTES_MAX)
    except OSError:
        return b""


def quote_path(path: str) -> str:
    """Return a path as a shell reads it. Raises SiftdError for one that no settings file can hold."""
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise SiftdError("a path of this installation is not UTF-8", hint="install siftd under another path") from error
    return shlex.quote(path)
