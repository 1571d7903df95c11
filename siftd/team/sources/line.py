"""The format in which issues, comments and jobs are handed over: UTF-8, one JSON object a line.

    {"source":"issue","ref":"github.com/acme/shop/issues/12","updated":"2026-11-20T10:00:00Z","title":"Login fails",
     "text":"Since **1.4** …","status":"open","priority":"high","labels":["bug"],"by":"ana","url":"https://…"}
    {"source":"comment","ref":"github.com/acme/shop/issues/12/comments/345","updated":1795946400000,"text":"Seen too"}
    {"source":"job","ref":"ci/unit/981","updated":"2026-11-20T10:07:00Z","title":"unit","status":"failed",
     "text":"…the log…","tools":["pytest"]}
    {"source":"issue","ref":"github.com/acme/shop/issues/9","updated":"2026-11-21T08:00:00Z","deleted":true}

    source     issue, comment or job
    ref        the other program's key for it, at most 480 characters of one line: what makes a second one an update.
               It does not end with `#` and digits, which is how later chunks are named.
    updated    when it was last changed there: ISO 8601, UTC where it names no zone, or milliseconds since 1970.
               The newest wins; the same or an older one changes nothing.
    deleted    true: it is forgotten, for good, with all of its chunks. Nothing else of the line is read then.
    text       what it says; at most 4 MB. `form` says how it is written: markdown (an issue's and a comment's, unless
               it is said), plain, or log (a job's), of which the failed step and its tail are kept.
    title, status, priority, labels, tools, by, url       optional

Version 1, and a line may say so (`"version":1`). Fields may be added: a reader skips those it does not know, and
refuses a newer version. What is too long is cut, but for `ref`: a key that is cut would be another's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from siftd.errors import EnvelopeRejected
from siftd.team.items import Moment

T = TypeVar("T")

VERSION = 1
LINE_BYTES_MAX = 4 * 1024 * 1024
"""A longer line is no line of ours."""
REF_CHARS_MAX = 480
"""What leaves room for the number of a chunk."""

LineSource = Literal["issue", "comment", "job"]
LINE_SOURCES: tuple[LineSource, ...] = ("issue", "comment", "job")
Form = Literal["markdown", "plain", "log"]
LineRef = Annotated[str, Meta(min_length=1, max_length=REF_CHARS_MAX, pattern=r"^[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$")]


_BEFORE_ZONE = re.compile(r" (?=[+-]\d\d:?\d\d$)")
"""What programs in Ruby write between a time and its zone."""


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One issue, comment or job as it is now."""

    source: LineSource
    ref: LineRef
    updated: Moment | str
    version: Annotated[int, Meta(ge=1)] = VERSION
    deleted: bool = False
    title: str = ""
    text: str = ""
    form: Form | None = None
    status: str = ""
    priority: str = ""
    labels: list[str] = []
    tools: list[str] = []
    by: str = ""
    """Who wrote it there, by the other program's name of them."""
    url: str = ""

    @property
    def updated_ms(self) -> int:
        """When it was last changed. Raises EnvelopeRejected for what is no moment."""
        return self.updated if isinstance(self.updated, int) else parse_moment(self.updated)

    @property
    def read_as(self) -> Form:
        """How its text is written."""
        return self.form or ("log" if self.source == "job" else "markdown")


_DECODER = msgspec.json.Decoder(Line)


def decode(data: bytes) -> Line:
    """Return what a line says. Raises EnvelopeRejected, whose reason quotes nothing of it."""
    if len(data) > LINE_BYTES_MAX:
        raise EnvelopeRejected("too_long")
    try:
        return checked(_DECODER.decode(data))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise EnvelopeRejected("no_line") from error


def encode(line: Line) -> bytes:
    """Return a line with its end."""
    return msgspec.json.encode(line) + b"\n"


def made(**fields: Any) -> Line:
    """Return the line of these fields, checked as one that is read. Raises EnvelopeRejected."""
    try:
        return checked(msgspec.convert(fields, Line))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise EnvelopeRejected("no_line") from error


def checked(line: Line) -> Line:
    """Return the line; raises EnvelopeRejected for what no type says of it."""
    if line.version > VERSION:
        raise EnvelopeRejected("newer_version")
    if line.ref.rpartition("#")[1] and line.ref.rpartition("#")[2].isdecimal():
        raise EnvelopeRejected("ref_of_a_chunk")
    if not 1 <= line.updated_ms <= 253_402_300_799_999:
        raise EnvelopeRejected("no_moment")
    return line


def every(parts: Iterable[T], line_of: Callable[[T], Line | None]) -> Iterator[Line]:
    """Yield the lines of all parts; one that is none is raised as EnvelopeRejected behind the others."""
    first: EnvelopeRejected | None = None
    for part in parts:
        try:
            line = line_of(part)
        except EnvelopeRejected as error:
            first = first or error
        else:
            if line is not None:
                yield line
    if first is not None:
        raise first


def parse_moment(text: str) -> int:
    """Return an ISO 8601 moment in milliseconds, UTC where it names no zone. Raises EnvelopeRejected."""
    text = _BEFORE_ZONE.sub("", text[:64].strip().removesuffix(" UTC"))
    try:
        found = datetime.fromisoformat(text)
        return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise EnvelopeRejected("no_moment") from error
