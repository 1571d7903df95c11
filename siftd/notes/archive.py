"""The archive: what has left the notes, verbatim, a file for each month, appended to only.

<!-- archived 2026-11-25 (session-end) -->
## from state.md

…
"""

from __future__ import annotations

from collections.abc import Sequence

from siftd.notes.edits import ArchiveEntry


def appended(archive: str, entries: Sequence[ArchiveEntry], *, date: str, reason: str) -> str:
    """Return an archive's text with one more batch; `archive` is empty where there is no file yet."""
    if not entries:
        return archive
    lines = [f"<!-- archived {date} ({reason}) -->"]
    for source in dict.fromkeys(entry.source for entry in entries):
        lines += [f"## from {source}.md", ""]
        for entry in entries:
            if entry.source == source:
                lines += [entry.content.strip("\n"), ""]
    before = f"{archive.rstrip()}\n\n" if archive.strip() else ""
    return before + "\n".join(lines).rstrip() + "\n"
