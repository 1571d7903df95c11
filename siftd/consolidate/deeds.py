"""Reading what was done: which command of a session did what for the project, noted once an event, in order.

Nothing of it happens in a hook. What is read is bounded, and nothing that a payload says is run or obeyed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial

from siftd.consolidate.drain import Store
from siftd.facts.learnt_commands import Ended, Verdict, folder_after, runs_of
from siftd.store import deeds, meta
from siftd.store.access import Database
from siftd.store.deeds import Noted, RunRow
from siftd.store.payload import client_of, find_object
from siftd.summarise.extractive.outcomes import understand
from siftd.summarise.extractive.text import bounded, printed

_SHELL_GOES_ON = frozenset(("claude-code",))
"""Clients whose commands run in one shell, so that a `cd` holds for the next one."""
_WORKTREES = (".worktrees/", ".claude/worktrees/")
_SESSIONS_MAX = 256
_COMMANDS_BEFORE = 20


class DeedReader:
    """Notes what commands did, from where it stopped to the newest event."""

    def __init__(self, store: Store, root: str) -> None:
        """`root` is the project's folder, "" where it has none."""
        self._store = store
        self._root = root.rstrip("/")
        self._folders: OrderedDict[tuple[str, str | None], str | None] = OrderedDict()

    async def run(self, goes_on: Callable[[], bool] = lambda: True) -> bool:
        """Read on; return whether all is read."""
        while True:
            after = await self._store.read(lambda c: meta.number(c, deeds.READ_UPTO))
            rows, upto = await self._store.read(partial(self._read, after=after))
            if upto == after:
                return True
            await self._store.write(lambda c, r=rows, u=upto: deeds.note(c, r, u))  # type: ignore[misc]
            if not goes_on():
                return False

    def _read(self, connection: Database, *, after: int) -> tuple[list[Noted], int]:
        rows, upto = deeds.list_runs_after(connection, after)
        return [noted for row in rows for noted in self._deeds_of(connection, row)], upto

    def _deeds_of(self, connection: Database, row: RunRow) -> list[Noted]:
        payload = find_object(row.payload_json)
        given = payload.get("tool_input") if payload else None
        line = given.get("command") if isinstance(given, dict) else None
        if payload is None or not isinstance(given, dict) or not isinstance(line, str):
            return []
        root, start = place_of(row.cwd or "", self._root)
        whose = row.session_id, row.agent_id
        goes_on = client_of(row.payload_json[:300]) in _SHELL_GOES_ON
        folder: str | None = start
        if goes_on:
            if whose not in self._folders:
                before = deeds.commands_before(connection, *whose, row.event_id, _COMMANDS_BEFORE)
                for each in before:
                    folder = folder_after(each, folder, root)
            else:
                folder = self._folders[whose]
            self._folders[whose] = folder_after(line, folder, root)
            self._folders.move_to_end(whose)
            if len(self._folders) > _SESSIONS_MAX:
                self._folders.popitem(last=False)
        ended = ended_of(payload, row.outcome, is_background=bool(given.get("run_in_background")))
        return [
            Noted(row.event_id, found.topic, result, found.command)
            for found, result in runs_of(line, ended, folder, root)
        ]


def ended_of(payload: dict[str, object], outcome: str | None, *, is_background: bool = False) -> Ended:
    """Return how a command ended, as far as its event tells."""
    error = payload.get("error")
    output = bounded(printed(error) if error is not None else printed(payload.get("tool_response")))
    finding = understand(output) if output else None
    says: Verdict = ""
    if finding is not None and (finding.is_bad or finding.error):
        says = "bad"
    elif finding is not None and finding.verdicts:
        says = "good"
    return Ended(outcome, says, output, is_background)


def place_of(cwd: str, root: str) -> tuple[str, str]:
    """Return (the root of the work tree, the folder below it) where a session began."""
    cwd = cwd.rstrip("/")
    if not root or not (cwd == root or cwd.startswith(f"{root}/")):
        return cwd, ""
    below = cwd[len(root) + 1 :]
    for each in _WORKTREES:
        if below.startswith(each):
            name = below[len(each) :].partition("/")[0]
            return f"{root}/{each}{name}", below[len(each) + len(name) + 1 :]
    return root, below
