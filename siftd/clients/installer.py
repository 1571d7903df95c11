"""The installer of a client whose wiring is a list of edits: a room says what goes where, and all else is here.

    class CodexInstaller(FilesInstaller):
        client, title, programs = "codex", "Codex", ("codex",)

        def folders(self, where):
            return [codex_home(where)]

        def edits(self, where, *, is_project, server):
            handler = {"type": "command", "command": self.command(where), "timeout": 5}
            hooks = {event: {"hooks": [handler]} for event in EVENTS}
            edits = [JsonFile(f"{codex_home(where)}/hooks.json", hooks=hooks)]
            if server is not None:
                edits.append(TomlFile(f"{codex_home(where)}/config.toml", tables={("mcp_servers", "siftd"): server}))
            return edits

A room that has more to check extends `check`.
"""

from __future__ import annotations

import os
import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal

from siftd.clients.client import Where
from siftd.errors import RequestInvalid, SiftdError
from siftd.finding import Finding
from siftd.install import json_entries, toml_entries
from siftd.install.change import Change
from siftd.install.edits import Edit, JsonFile, TomlFile
from siftd.install.files import read_file
from siftd.install.launcher import format_entry, is_entry
from siftd.install.presence import is_present
from siftd.install.wiring import list_wired, unwire, wire
from siftd.resources import server_entry


class FilesInstaller(ABC):
    """Wires a client by the edits that its room declares, and takes them out again without a trace."""

    client: str
    """The client's name."""
    title: str
    """For people."""
    programs: tuple[str, ...] = ()
    """What its program is called on the PATH."""
    takes_project: bool = False
    """Whether it can be wired for one workspace alone."""
    next_step: str = ""
    """What a person still has to do after installing, in a sentence; "" if nothing."""
    timeout_limits: ClassVar[Mapping[str, float]] = {}
    """The longest timeout that the client takes for a hook of an event, in the unit of its files."""

    @abstractmethod
    def folders(self, where: Where) -> Iterable[str]:
        """Return the folders that tell that the client is here: where it keeps what is the user's."""

    @abstractmethod
    def edits(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Edit]:
        """Return what goes into which file; `server` is how our tools are started, None if they are not wanted."""

    def command(self, where: Where, how: Literal["", "quiet"] = "") -> str:
        """Return the shell command of a hook entry; `quiet`: nothing may be printed for its event."""
        return format_entry(where.launcher, self.client, how)

    def is_present(self, where: Where) -> bool:
        return is_present(where.environ, folders=self.folders(where), programs=self.programs)

    def install(self, where: Where, *, is_project: bool, server: Mapping[str, Any] | None) -> Sequence[Change]:
        if is_project and not self.takes_project:
            raise RequestInvalid(f"{self.title} has no hooks of one project", hint="leave --project out")
        return wire(self.client, self.edits(where, is_project=is_project, server=server), where.manifest)

    def uninstall(self, where: Where, *, is_project: bool) -> Sequence[Change]:
        return unwire(self.client, where.manifest, inside=where.workspace_root if is_project else None)

    def check(self, where: Where) -> Iterator[Finding]:
        """Yield what is wrong with what was wired: missing, changed, or not to be reached; or that nothing is wired."""
        again = f"run `mem install --client {self.client}`"
        try:
            wired = list_wired(self.client, where.manifest)
            problems = list(self._problems(where, wired))
            tools = list(self._tools(where, wired, again))
        except SiftdError as error:
            yield Finding("hooks", "problem", error.message, error.hint)
            return
        if not wired:
            yield Finding("hooks", "note", f"{self.title} is here, and is not wired to siftd", again)
            return
        for problem in problems:
            yield Finding("hooks", "problem", problem, again)
        if not problems:
            yield Finding("hooks", "ok", f"{self.title} is wired to this siftd")
        yield from tools

    def _tools(self, where: Where, wired: Sequence[str], again: str) -> Iterator[Finding]:
        """Yield how the agent reaches the memory by itself, for a client that can be given tools."""
        edits = self.edits(where, is_project=False, server=server_entry())
        holding = [edit for edit in edits if _names_of(edit)]
        if not holding or not wired:
            return
        held = [(edit, current) for edit in holding if (current := read_file(edit.path)) and _holds(edit, current)]
        if not held:
            message = f"the agent of {self.title} is given what matters, but cannot search by itself"
            yield Finding("tools", "note", message, f"{again}, without --no-tools")
        elif any(edit.put(current) != current for edit, current in held):
            yield Finding("tools", "problem", f"{held[0][0].path} starts the tools of another siftd", again)
        else:
            yield Finding("tools", "ok", f"the agent of {self.title} can search and remember by itself")

    def _problems(self, where: Where, wired: Sequence[str]) -> Iterator[str]:
        for path in wired:
            if read_file(path) is None:
                yield f"{path} is gone: {self.title} is not wired to siftd any more"
        for edit in self.edits(where, is_project=False, server=None):
            current = read_file(edit.path)
            if edit.path not in wired or current is None:
                continue
            if edit.put(current) != current:
                yield f"{edit.path} does not hold our hooks as they should be"
            yield from self._unreachable(edit, current)
            yield from self._too_long(edit, current)

    def _unreachable(self, edit: Edit, current: bytes) -> Iterator[str]:
        for command in _commands(edit, current):
            launcher = launcher_of(command)
            if launcher is not None and not os.access(launcher, os.R_OK):
                yield f"{edit.path} starts what cannot be read: {launcher}"
                return

    def _too_long(self, edit: Edit, current: bytes) -> Iterator[str]:
        for event, timeout in _timeouts(edit, current):
            limit = self.timeout_limits.get(event)
            if limit is not None and timeout > limit:
                yield f"{edit.path} asks {timeout:g} for {event}; {self.title} takes {limit:g} at most"


def launcher_of(command: str) -> str | None:
    """Return the file that a hook's command looks for before it runs it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    found = (path for flag, path in pairwise(words) if flag in ("-r", "-x"))
    return next(found, None)


def _names_of(edit: Edit) -> Iterable[tuple[str, ...]]:
    """Return where an edit puts named entries, as servers of tools are."""
    return edit.members if isinstance(edit, JsonFile) else edit.tables if isinstance(edit, TomlFile) else ()


def _holds(edit: Edit, current: bytes) -> bool:
    text = current.decode()
    if isinstance(edit, JsonFile):
        return all(json_entries.find_member(text, path[:-1], path[-1]) for path in edit.members)
    return all(toml_entries.find_table(text, path) for path in _names_of(edit))


def _handlers(edit: Edit, current: bytes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield our handlers as a file has them, by event."""
    if isinstance(edit, JsonFile):
        yield from json_entries.list_handlers(current.decode(), edit.under)
    elif isinstance(edit, TomlFile):
        for path in edit.rows:
            for row in toml_entries.list_rows(current.decode(), path):
                yield str(row.get(edit.row_key)), row


def _commands(edit: Edit, current: bytes) -> Iterator[str]:
    for _, handler in _handlers(edit, current):
        yield from filter(is_entry, handler.values())


def _timeouts(edit: Edit, current: bytes) -> Iterator[tuple[str, float]]:
    for event, handler in _handlers(edit, current):
        for key, value in handler.items():
            if key.lower().startswith("timeout") and isinstance(value, int | float):
                yield event, value
