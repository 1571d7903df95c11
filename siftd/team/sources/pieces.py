"""A line of a source as the items that a team shares: redacted, plain, in pieces.

The first piece has the line's own `ref`, the others `ref#2`, `ref#3`, …; the first one's metadata say how many there
are (`chunks`). A later telling that is shorter archives those that vanish: an item with an empty text and
`archived_at`. All of them have the rev of the line, which is when it was changed in the other program.

Redaction comes first, for half a secret is one that no rule knows, and once more where markup was taken out and a piece
was cut: what stood apart may stand together then.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any

import msgspec

from siftd.team.items import TEXT_CHARS_MAX, Forget, Item, Put, content_hash, document_id
from siftd.team.sources import job_log
from siftd.team.sources.line import Line
from siftd.team.sources.plain import canonical, one_line, plain
from siftd.team.sources.splitting import PIECES_MAX, split

Scrub = Callable[[str], str]
"""Takes secrets out of a text."""
Words = Callable[[str], str]
"""Identifiers and paths of a text in their parts, for an index."""

TITLE_CHARS_MAX = 300
WORD_CHARS_MAX = 100
URL_CHARS_MAX = 2_000
LIST_MAX = 32

_PRIORITY = re.compile(
    r"(?i)p(?:riority|rio)?[ :/_-]{0,3}(?:critical|urgent|highest|high|medium|normal|low|lowest|[0-4])"
)
_WORDS_OF_PRIORITY = frozenset(("critical", "urgent", "blocker"))


def items_of(line: Line, project: uuid.UUID, scrub: Scrub, words: Words, chunks_there: int = 0) -> list[Item]:
    """Return what a line becomes. `chunks_there`: how many pieces are known of it, 0 where nobody knows any."""
    known = min(chunks_there, PIECES_MAX)
    if line.deleted:
        ids = (document_id(project, line.source, ref_of(line.ref, n)) for n in range(1, max(known, 1) + 1))
        return [Forget(id=each, rev=line.updated_ms) for each in ids]
    title = scrub(one_line(scrub(line.title), TITLE_CHARS_MAX))[:TITLE_CHARS_MAX]
    texts = [scrub(piece)[:TEXT_CHARS_MAX] for piece in split(_text_of(line, scrub))]
    metadata = _metadata(line, scrub, title)
    heads = [title if not texts[0].startswith(title) else "", *[title] * (len(texts) - 1)]
    items = [
        _put(project, line, n, "\n\n".join(filter(None, (head, text))), metadata, words, len(texts))
        for n, (head, text) in enumerate(zip(heads, texts, strict=True), 1)
    ]
    return [*items, *(_gone(project, line, n) for n in range(len(texts) + 1, known + 1))]


def ref_of(ref: str, number: int) -> str:
    """Return the key of a line's piece of this number."""
    return ref if number == 1 else f"{ref}#{number}"


def _text_of(line: Line, scrub: Scrub) -> str:
    text = line.text
    match line.read_as:
        case "log":
            shown = job_log.Window(*(scrub(part) for part in job_log.window(text)))
            return canonical(scrub(job_log.shortened(shown)))
        case "markdown":
            return scrub(plain(scrub(text)))
        case "plain":
            return scrub(canonical(scrub(text)))


def _metadata(line: Line, scrub: Scrub, title: str) -> dict[str, Any]:
    tools = line.tools or (job_log.tools(line.text) if line.read_as == "log" else [])
    labels = _few(line.labels, scrub)
    said = {
        "saidBy": "output" if line.source == "job" else "outside",
        "title": title,
        "status": _word(line.status, scrub),
        "priority": _word(line.priority, scrub) or priority_of(labels),
        "labels": labels,
        "tools": _few(tools, scrub),
        "by": _word(line.by, scrub),
        "url": _address(line.url, scrub),
    }
    return {name: value for name, value in said.items() if value}


def priority_of(labels: list[str]) -> str:
    """Return the priority that labels tell: `P1`, `priority: high`, `priority::2`, `urgent`; "" where none does."""
    for label in labels:
        if label.lower() in _WORDS_OF_PRIORITY or _PRIORITY.fullmatch(label):
            return label
    return ""


def _word(text: str, scrub: Scrub) -> str:
    return scrub(one_line(scrub(text), WORD_CHARS_MAX))


def _few(texts: list[str], scrub: Scrub) -> list[str]:
    return list(dict.fromkeys(filter(None, (_word(text, scrub) for text in texts[: LIST_MAX * 4]))))[:LIST_MAX]


def _address(url: str, scrub: Scrub) -> str:
    """Return a link that a person may follow; nothing but http, and nothing that is cut."""
    is_link = url.startswith(("https://", "http://")) and len(url) <= URL_CHARS_MAX and url.isprintable()
    return scrub(url) if is_link and " " not in url else ""


def _put(
    project: uuid.UUID, line: Line, number: int, text: str, metadata: dict[str, Any], words: Words, chunks: int
) -> Put:
    of_piece = {"chunks": chunks} if number == 1 else {"chunk": number}
    put = Put(
        id=document_id(project, line.source, ref_of(line.ref, number)),
        rev=line.updated_ms,
        hash="0" * 64,
        source=line.source,
        source_ref=ref_of(line.ref, number),
        text=text,
        ts=line.updated_ms,
        words=words(text),
        metadata={**metadata, **(of_piece if chunks > 1 else {})},
    )
    return msgspec.structs.replace(put, hash=content_hash(put))


def _gone(project: uuid.UUID, line: Line, number: int) -> Put:
    put = Put(
        id=document_id(project, line.source, ref_of(line.ref, number)),
        rev=line.updated_ms,
        hash="0" * 64,
        source=line.source,
        source_ref=ref_of(line.ref, number),
        text="",
        ts=line.updated_ms,
        archived_at=line.updated_ms,
    )
    return msgspec.structs.replace(put, hash=content_hash(put))
