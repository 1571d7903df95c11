"""Notes in Markdown: what a person wrote for agents, what Claude Code notes by itself, a curated `.memory/` folder.

Claude Code's own memory is a folder beside a project's sessions: `MEMORY.md` is the list of its other files, each of
which has `name`, `description` and a `type` (user, feedback, project, reference) in its frontmatter (read from the
program 2.1). A curated `.memory/` has `state.md`, `decisions.md`, `mistakes.md`, `todo.md`; an entry of the last two's
kind is one memory, headed `### 2026-11-22 — title`.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from siftd import foreign_file
from siftd.facts.model import Category
from siftd.model import SaidBy
from siftd.other_memories.markdown import Statement, split_frontmatter, statements
from siftd.other_memories.model import Item, LeftBehind, Memory, OtherMemory, Places, moment

FILES_MAX = 1_000
FILE_BYTES_MAX = 1024 * 1024
"""What is longer is nothing that a person reads."""
CHARS_MIN = 8
"""What is shorter says nothing by itself."""
_INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md")
_AUTO: dict[str, Category] = {
    "user": "preference",
    "feedback": "convention",
    "project": "context",
    "reference": "fact",
}
_CURATED: dict[str, Category] = {
    "state.md": "context",
    "decisions.md": "decision",
    "mistakes.md": "issue",
    "todo.md": "action",
}
_DATED = re.compile(r"(?:### )?\[?([0-9]{4}-[0-9]{2}-[0-9]{2})\]?[ \t]{0,4}[—–:-]?[ \t]{0,4}(\S.*)?")
_UNREAD = LeftBehind(why=f"a file that is a link, is no such file, or is longer than {FILE_BYTES_MAX >> 20} MB")


def _read_instructions(path: str) -> Iterator[Item]:
    for file in _files(path, _INSTRUCTIONS, ".claude/rules"):
        if (read := _read(path, file)) is None:
            yield _UNREAD
            continue
        text, ts = read
        yield from _said(split_frontmatter(text)[1], file, ts, "instruction", "person")


def _read_auto(path: str) -> Iterator[Item]:
    for file in _files(path, (), "."):
        if (read := _read(path, file)) is None:
            yield _UNREAD
            continue
        text, ts = read
        fields, body = split_frontmatter(text)
        if not fields:
            if Path(file).name == "MEMORY.md":
                body = "\n".join(line for line in body.splitlines() if "](" not in line)  # the list of the others
            yield from _said(body, file, ts, "context", "agent")
            continue
        said = "\n".join(filter(None, (fields.get("description", ""), body.strip())))
        kind = _AUTO.get(fields.get("type", ""), "context")
        yield from _one(said, file, ts, kind, (fields.get("name", ""),))


def _read_curated(path: str) -> Iterator[Item]:
    inner = Path(path, ".memory")
    folder = str(inner) if inner.is_dir() and not inner.is_symlink() else path
    for file in _files(folder, tuple(_CURATED), None):
        name = Path(file).name
        if name not in _CURATED or (read := _read(path, file)) is None:
            yield _UNREAD
            continue
        text, ts = read
        body, kind = split_frontmatter(text)[1], _CURATED[name]
        if name == "mistakes.md":
            yield from _entries(body, file, ts, kind)
        elif name == "todo.md":
            yield from _said(body, file, ts, kind, "agent", is_open=True)
        else:
            yield from _said(body, file, ts, kind, "agent")
    if Path(folder, "archive").is_dir():
        yield LeftBehind(why="a month's archive: it holds what was taken out of the notes")


def _files(path: str, named: Sequence[str], folder: str | None) -> list[str]:
    """Return a file that the person named; of a folder those that are there. Raises OSError, ValueError."""
    if not stat.S_ISDIR(os.stat(path).st_mode):  # noqa: PTH116 - the error names the path as it was given
        return [path]
    there = [f"{path}/{name}" for name in named if os.path.lexists(f"{path}/{name}")]
    if folder is not None:
        there += sorted(map(str, islice(Path(path, folder).glob("*.md"), FILES_MAX)))
    if not there:
        raise ValueError("there is no such file in this folder")
    return there


def _read(path: str, file: str) -> tuple[str, int] | None:
    """Return what a file says, and when it was written; None for one that is too long, or is no regular file.

    What lies in a folder may have come with a clone: no link leads out of it. Raises OSError for a file that the person
    named.
    """
    is_named = file == path
    try:
        if not is_named and os.path.realpath(file) != f"{os.path.realpath(path)}/{os.path.relpath(file, path)}":
            return None
        data = foreign_file.read(file, FILE_BYTES_MAX, follow=is_named)
        return data.decode("utf-8", "replace"), int(Path(file).stat().st_mtime * 1000)
    except OSError:
        if is_named:
            raise
        return None


def _said(
    body: str, file: str, ts: int, kind: Category, said_by: SaidBy, *, is_open: bool | None = None
) -> Iterator[Item]:
    """Yield each statement of a file; of boxes only those that are `is_open`, where that is asked for."""
    for each in statements(body):
        if is_open is not None and each.is_open is not is_open:
            yield LeftBehind(why="an item that is done, or is none")
        elif len(each.text) < CHARS_MIN:
            yield LeftBehind(why=f"a line of less than {CHARS_MIN} characters")
        else:
            dated = _date_of(each.headings)
            yield Memory(
                key=_key(file, each.text),
                text=_with_heading(each),
                category=kind,
                ts=dated or ts,
                updated_ts=ts,
                tags=_tags(file, each.headings),
                said_by=said_by,
            )


def _entries(body: str, file: str, ts: int, kind: Category) -> Iterator[Item]:
    """Yield what stands under each dated heading as one memory."""
    held: list[Statement] = []
    for each in [*statements(body), None]:
        if held and (each is None or each.headings != held[0].headings):
            dated, title = _dated(held[0].headings[-1] if held[0].headings else "")
            yield from _one("\n".join([title, *(one.text for one in held)]).strip(), file, dated or ts, kind, ())
            held = []
        if each is not None:
            held.append(each)


def _one(text: str, file: str, ts: int, kind: Category, tags: tuple[str, ...]) -> Iterator[Item]:
    if len(text) < CHARS_MIN:
        yield LeftBehind(why=f"an entry of less than {CHARS_MIN} characters")
    else:
        named = tuple(filter(None, (Path(file).stem, *tags)))
        yield Memory(key=_key(file, text), text=text, category=kind, ts=ts, updated_ts=ts, tags=named)


def _key(file: str, text: str) -> str:
    """Name a statement by what it says: a file has no ids, and its lines move."""
    return f"{Path(file).name}:{hashlib.sha256(' '.join(text.split()).encode()).hexdigest()}"


def _with_heading(each: Statement) -> str:
    """Return a statement with the heading that it stands under, where it needs one: "pnpm" says little by itself."""
    heading = each.headings[-1] if each.headings else ""
    return f"{heading}: {each.text}" if heading and len(each.text.split()) < 4 else each.text


def _tags(file: str, headings: tuple[str, ...]) -> tuple[str, ...]:
    return (Path(file).stem, *(heading.casefold() for heading in headings[1:][-2:]))


def _date_of(headings: tuple[str, ...]) -> int | None:
    return next(filter(None, (_dated(each)[0] for each in reversed(headings))), None)


def _dated(heading: str) -> tuple[int | None, str]:
    """Return the date that a heading begins with, and its title."""
    found = _DATED.fullmatch(heading)
    return (moment(found[1]), found[2] or "") if found else (None, heading)


def _auto_folder(places: Places) -> str:
    """Return where it is, as Claude Code names the folder of a path that is not very long."""
    encoded = "".join(
        each if each.isascii() and each.isalnum() else "-" * (len(each.encode("utf-16-le")) // 2)
        for each in places.project
    )
    return f"{places.claude}/projects/{encoded}/memory"


CLAUDE_MD = OtherMemory(
    name="claude-md", title="CLAUDE.md", default=lambda places: places.project, read=_read_instructions
)
AUTO_MEMORY = OtherMemory(
    name="claude-auto-memory", title="Claude Code's own memory", default=_auto_folder, read=_read_auto
)
MEMD = OtherMemory(
    name="memd", title="a curated .memory folder", default=lambda places: places.project, read=_read_curated
)
