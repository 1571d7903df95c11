"""What a brief says of the notes of the project in which a session begins.

    The project's notes, in files that anybody may edit:
    - last distilled 2026-03-04 12:30 UTC (session-end); state of 2026-03-04, «active»; 2 notes unread in the inbox
    - to do: «Mend the flaky test of the parser»
    - 3 more to do

The files may be a person's, an agent's or a clone's: every line of theirs is redacted as what is captured is, made
harmless, short, and quoted as nobody's in particular. What was read is held until the files change.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence

from siftd.errors import SiftdError
from siftd.harmless import harmless
from siftd.notes import registry
from siftd.notes.glance import UNREAD_MAX, Glance, Stamp, glance, stamp
from siftd.notes.layout import Bookkeeping, Project
from siftd.workspace.paths import Home

ITEM_CHARS_MAX = 140
_WORD_CHARS_MAX = 40
"""Of what a frontmatter says."""
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_HELD_MAX = 16
"""Projects of one workspace."""


class NotesSection:
    """Says what the notes of a workspace's projects say, until they change."""

    def __init__(self, home: Home, redact: Callable[[str], str], excluded: Sequence[str] = ()) -> None:
        """`excluded` are folders without notes."""
        self._home = home
        self._redact = redact
        self._excluded = excluded
        self._held: dict[str, tuple[Stamp, Glance]] = {}

    def lines(self, folders: Sequence[str]) -> list[str]:
        """Return what is said of the notes of the first of these folders that has any; nothing where none has."""
        project = self._find(folders)
        if project is None:
            return []
        return self._format(self._look(project))

    def _look(self, project: Project) -> Glance:
        books = Bookkeeping(self._home, project.id)
        now = stamp(project, books)
        held = self._held.get(project.id)
        if held is not None and held[0] == now:
            return held[1]
        if len(self._held) >= _HELD_MAX:
            self._held = {}
        seen = glance(project, books)
        self._held[project.id] = now, seen
        return seen

    def _find(self, folders: Sequence[str]) -> Project | None:
        try:
            known = registry.load(self._home)
        except SiftdError:
            return None  # `mem notes` says what is wrong with it
        for folder in folders:
            project = known.find(os.path.realpath(folder))
            if project is not None and not known.is_excluded(project.path, self._excluded):
                return project
        return None

    def _format(self, seen: Glance) -> list[str]:
        said = []
        if seen.distilled_ts:
            said.append(f"last distilled {_minute(seen.distilled_ts)} ({harmless(seen.trigger, _WORD_CHARS_MAX)})")
        if seen.updated or seen.status:
            day = f" of {seen.updated}" if seen.updated and _DAY.fullmatch(seen.updated) else ""
            status = f", {self._quoted(seen.status, _WORD_CHARS_MAX)}" if seen.status else ""
            said.append(f"state{day}{status}")
        if seen.unread:
            many = f"{seen.unread} or more" if seen.unread >= UNREAD_MAX else str(seen.unread)
            said.append(f"{many} note{'s' * (seen.unread != 1)} unread in the inbox")
        lines = [f"- {'; '.join(said)}"] if said else []
        lines += [f"- to do: {self._quoted(item, ITEM_CHARS_MAX)}" for item in seen.items]
        more = seen.open - len(seen.items)
        return [*lines, f"- {more} more to do"] if more else lines

    def _quoted(self, text: str, limit: int) -> str:
        """Return a line of a file, redacted before it is cut."""
        return f"«{harmless(self._redact(text), limit)}»"


def _minute(ts: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(ts / 1000))
