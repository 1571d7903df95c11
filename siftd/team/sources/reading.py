"""A file that holds issues, comments or jobs, as lines: our own format, or what another program has exported.

Whatever an export is, time is linear in it and memory is bounded: JSON lines are read one by one; a JSON array is taken
apart first, each element by itself then, so that a bad one costs no other. What is no line is a `Problem`, counted and
passed over.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, Literal, NamedTuple

import msgspec

from siftd.errors import EnvelopeRejected, RequestInvalid
from siftd.team.sources import github, gitlab, job_log
from siftd.team.sources.line import LINE_BYTES_MAX, Line, LineSource, decode, made

Form = Literal["", "github", "gitlab", "actions"]
"""Who wrote the file; "" is our own format."""
FORMS: tuple[Form, ...] = ("github", "gitlab", "actions")
ARRAY_BYTES_MAX = 64 * 1024 * 1024
"""A longer array is exported in parts, or as JSON lines, which have no limit but that of a line."""
LOG_BYTES_MAX = 16 * 1024 * 1024
"""Of a job's log only the end is read where it is longer: there is what it failed of."""

_ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"\x28\xb5\x2f\xfd")
"""How zip, gzip, bzip2, xz, 7z and zstd begin, which logs are downloaded as."""
_TAR = slice(257, 262)
_WIDE = (b"\xff\xfe", b"\xfe\xff")
_NOT_IN_A_KEY = re.compile(r"[^\w ./:@-]")
_ENDING = re.compile(r"\.(?:log|txt)$", re.IGNORECASE)
_KEY_CHARS_MAX = 400


class Problem(NamedTuple):
    """A place in the file, from 1, that is no line, and why."""

    number: int
    reason: str


Read = Iterable[Line | Problem]
_Reader = Callable[[bytes], Iterator[Line]]


def _own(data: bytes) -> Iterator[Line]:
    yield decode(data)


_READERS: dict[tuple[LineSource, Form], _Reader] = {
    ("issue", ""): _own,
    ("comment", ""): _own,
    ("job", ""): _own,
    ("issue", "github"): github.issues,
    ("comment", "github"): github.comments,
    ("job", "github"): github.jobs,
    ("job", "actions"): github.jobs,
    ("issue", "gitlab"): gitlab.issues,
    ("comment", "gitlab"): gitlab.notes,
    ("job", "gitlab"): gitlab.jobs,
}


SUPPORTED = frozenset(_READERS)
"""Which sources each form has."""


def read(file: BinaryIO, source: LineSource, form: Form, name: str, changed_ms: int) -> Read:
    """Return what a file holds of one source, in its order. `name` is the file's, without its folder; `changed_ms` when
    it was last written, for a log that names no time.

    Raises RequestInvalid for a form that has no such source. An export of issues may hold comments too: they are among
    the lines, and the caller says what becomes of them.
    """
    reader = _READERS.get((source, form))
    if reader is None:
        raise RequestInvalid(f"no {source}s are read from {form}", hint="`--from actions` goes with `--source job`")
    head = file.read(4_096)
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:2]
    file.seek(0)
    if head.startswith(_WIDE):
        raise RequestInvalid("the file is UTF-16", hint="in PowerShell: `… | Out-File -Encoding utf8 FILE`")
    if head.startswith(_ARCHIVES) or head[_TAR] == b"ustar":
        raise RequestInvalid("the file is an archive", hint="unpack it: each file in it is imported by itself")
    if form and first[:1] == b"[" and (source != "job" or first[1:].strip() in (b"", b"{", b"[", b"]")):
        return _array(file, reader)  # a log may begin with a bracket too: `[INFO] …`
    if source == "job" and form and first[:1] != b"{":
        return _log(file, name, changed_ms)
    if form and (whole := _whole(file)):
        return _each(whole, reader, 1)
    return _lines(file, reader, source)


def _whole(file: BinaryIO) -> bytes:
    """Return what a file holds that is one object, in however many lines; b"" where it is several."""
    data = file.read(ARRAY_BYTES_MAX + 1)
    file.seek(0)
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return b""
    return data if len(data) <= ARRAY_BYTES_MAX else b""


def _lines(file: BinaryIO, reader: _Reader, source: LineSource) -> Read:
    number = 0
    while data := file.readline(LINE_BYTES_MAX + 1):
        number += 1
        if len(data) > LINE_BYTES_MAX and not data.endswith(b"\n"):
            while (rest := file.readline(LINE_BYTES_MAX)) and not rest.endswith(b"\n"):
                pass
            yield Problem(number, "too_long")
        elif words := data.removeprefix(b"\xef\xbb\xbf").strip():
            yield from _each(words, reader, number, source)


def _array(file: BinaryIO, reader: _Reader) -> Read:
    """Yield what an array holds; `gh api --paginate --slurp` makes one of arrays."""
    data = file.read(ARRAY_BYTES_MAX + 1)
    if len(data) > ARRAY_BYTES_MAX:
        raise RequestInvalid(
            f"the array has more than {ARRAY_BYTES_MAX:,} bytes", hint="export it as JSON lines: `… --jq '.[]'`"
        )
    number = 0
    for element in _elements(data):
        inner = _elements(element) if bytes(element).startswith(b"[") else [element]
        for each in inner:
            number += 1
            yield from _each(bytes(each), reader, number)


def _elements(data: bytes | msgspec.Raw) -> list[msgspec.Raw]:
    try:
        return msgspec.json.decode(data, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RequestInvalid(
            "the file is no array of JSON", hint="with `gh api --paginate` say `--slurp`, or `--jq '.[]'`"
        ) from error


def _each(data: bytes, reader: _Reader, number: int, source: LineSource | None = None) -> Read:
    try:
        for line in reader(data):
            if reader is _own and source and line.source != source:
                yield Problem(number, "another_source")
            else:
                yield line
    except EnvelopeRejected as error:
        yield Problem(number, error.reason)


def _log(file: BinaryIO, name: str, changed_ms: int) -> Read:
    """Yield the job whose log a file is: its key is the file's name, its moment the last that the log tells."""
    size = file.seek(0, 2)
    file.seek(max(0, size - LOG_BYTES_MAX))
    log = file.read(LOG_BYTES_MAX).decode("utf-8", "replace")
    title = (_ENDING.sub("", name) or name).encode("utf-8", "replace").decode()
    try:
        yield made(
            source="job",
            ref=_key_of_log(name),
            updated=job_log.last_moment(log) or changed_ms,
            title=title,
            text=log,
            form="log",
            status=job_log.status(log),
        )
    except EnvelopeRejected as error:
        yield Problem(1, error.reason)


def _key_of_log(name: str) -> str:
    """Return a key that no file of another name has."""
    key = "log:" + _NOT_IN_A_KEY.sub(_escaped, _ENDING.sub("", name) or name)
    if len(key) <= _KEY_CHARS_MAX:
        return key
    return f"{key[:_KEY_CHARS_MAX]}~{hashlib.sha256(key.encode()).hexdigest()[:16]}"


def _escaped(sign: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in sign[0].encode("utf-8", "surrogatepass"))
