"""Writing everything of a store into one file: a snapshot, whole or not there at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from siftd.capture.admission import encode_canonical
from siftd.errors import RequestInvalid
from siftd.exchange.format import (
    COUNTED,
    SNAPSHOTS,
    VERSION,
    DocumentLine,
    End,
    EventLine,
    Header,
    InjectionLine,
    Line,
    MemoryLine,
    PodLine,
    SnapshotLine,
    SummaryLine,
    encode,
)
from siftd.knowledge.format import plain
from siftd.knowledge.model import Snapshot
from siftd.store import exchange, meta
from siftd.store.access import Database
from siftd.store.connection import hold_snapshot, open_reader
from siftd.store.facts import tags_of
from siftd.store.payload import find_object

PROGRESS_LINES = 1000
OnProgress = Callable[[int, int], object]


def export(
    database: str, path: str, now_ms: int, on_progress: OnProgress, snapshot: Snapshot | None = None
) -> dict[str, int]:
    """Write the store, and the `snapshot` of its codebase, into the file `path` (mode 0600, there only once it is
    whole); return how much of what.

    Reads through a connection of its own, in one transaction. Raises RequestInvalid for a path that will not do.
    """
    target = checked_target(path)
    connection = open_reader(database)
    try:
        hold_snapshot(connection)
        counts = exchange.count_rows(connection)
        if snapshot is not None:
            counts[SNAPSHOTS] = 1
        total = sum(counts.values())
        with _fresh_file(target) as file:
            file.write(encode(_header(connection, counts, now_ms)))
            for done, line in enumerate(_iter_lines(connection), start=1):
                file.write(encode(line))
                if done % PROGRESS_LINES == 0:
                    on_progress(done, total)
            if snapshot is not None:
                file.write(encode(SnapshotLine(snapshot=plain(snapshot))))
            file.write(encode(End(lines=total)))
        return counts
    finally:
        connection.close()


def checked_target(path: str) -> Path:
    """Return the path if a file can be put there. Raises RequestInvalid."""
    target = Path(path)
    if not target.is_absolute() or "\x00" in path:
        raise RequestInvalid("an absolute path is wanted", hint="`mem export FILE` makes it one")
    if target.exists() or target.is_symlink():
        raise RequestInvalid("there is something of this name already", hint="choose another name, or remove it")
    return target


def _header(connection: Database, counts: dict[str, int], now_ms: int) -> Header:
    return Header(
        version=VERSION,
        store=meta.get(connection, "store") or "",
        root=meta.get(connection, "root") or "",
        ts=now_ms,
        counts=counts,
    )


def _iter_lines(connection: Database) -> Iterator[Line]:
    for kind, what in COUNTED.items():
        for row in exchange.iter_rows(connection, what):
            yield kind(**_fields(kind, row))


def _fields(kind: type[Line], row: dict[str, Any]) -> dict[str, Any]:
    if kind is EventLine:
        row["payload"] = _payload(row.pop("payload_json"))
    elif kind is SummaryLine:
        row["cites"] = json.loads(row["cites"])
    elif kind is InjectionLine:
        row["why"] = find_object(row["why"]) or {}
    elif kind is DocumentLine:
        row["metadata"] = find_object(row["metadata"]) or {}
    elif kind is PodLine:
        row["is_archived"] = bool(row["is_archived"])
    elif kind is MemoryLine:
        sources = json.loads(row["sources"])
        row |= {"tags": tags_of(row["tags"]), "pinned": bool(row["pinned"]), "sources": sources}
    return row


def _payload(payload_json: str) -> msgspec.Raw:
    """Return the payload as it is stored, made canonical where a person has edited it."""
    payload = find_object(payload_json)
    if payload is None:
        return msgspec.Raw(encode_canonical({"text": payload_json}))
    return msgspec.Raw(encode_canonical(payload) if "\n" in payload_json else payload_json.encode())


@contextmanager
def _fresh_file(target: Path) -> Iterator[BinaryIO]:
    """Yield a file of mode 0600 that takes its place once it is written and synced."""
    fresh = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(target)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        raise RequestInvalid(f"the file cannot be written: {error.strerror}", hint="choose another place") from error
