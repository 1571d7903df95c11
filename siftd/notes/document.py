"""A file of notes: frontmatter that only siftd writes, and a body in Markdown.

    ---
    type: state
    project: siftd
    last_updated: 2026-11-25
    status: active
    ---

    # State

`status` and keys that siftd does not know stay as they stand, with the lines that continue them; siftd writes `type`,
`project` and `last_updated`. What begins with no such block, or never ends it, is all body.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_KEY = re.compile(r"([A-Za-z_][\w-]{0,63}):(?:[ \t](.*))?")
_LINES_MAX = 200
"""Of frontmatter."""
OWN = ("type", "project", "last_updated", "status")


class Document(NamedTuple):
    """The text of a file of notes, taken apart."""

    head: tuple[tuple[str, str], ...]
    """The keys of the frontmatter in their order, each with its lines as they stand."""
    body: str

    def value(self, key: str) -> str | None:
        """Return what a key says; None where it is not there."""
        for name, lines in self.head:
            if name == key:
                return lines.partition(":")[2].strip()
        return None


def parse(text: str) -> Document:
    """Take a file apart. `render` of the same values gives its bytes back, but for line ends of another system."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---":
        return Document((), "\n".join(lines))
    head: list[tuple[str, str]] = []
    for number, line in enumerate(lines[1:_LINES_MAX], 1):
        if line.rstrip() == "---":
            return Document(tuple(head), "\n".join(lines[number + 1 :]).removeprefix("\n"))
        if match := _KEY.fullmatch(line):
            head.append((match[1], line))
        elif head:
            head[-1] = (head[-1][0], f"{head[-1][1]}\n{line}")
        else:
            break
    return Document((), "\n".join(lines))


def render(document: Document, *, kind: str, project: str, updated: str) -> str:
    """Return the file's text. `updated` is a date (YYYY-MM-DD)."""
    ours = {"type": kind, "project": _one_line(project), "last_updated": updated}
    if document.value("status") is None:
        ours["status"] = "active"
    lines = [f"{key}: {ours.pop(key)}" if key in ours else raw for key, raw in document.head]
    lines = [f"{key}: {value}" for key, value in ours.items()] + lines if not document.head else lines
    if document.head:
        lines += [f"{key}: {value}" for key, value in ours.items()]
    body = document.body.strip("\n")
    return "---\n" + "\n".join(lines) + "\n---\n" + (f"\n{body}\n" if body else "")


def _one_line(text: str) -> str:
    return " ".join(text.split())
