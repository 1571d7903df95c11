"""Entities that are one: merged by a person, or because one was renamed into the other; and parted again.

Nothing is moved for good. A merged entity keeps its row, and every mention and every evidence says which entity it
names (`named`, `src_named`, `dst_named`); what a merge changes is where these count, and it is made again from the
names whenever it changes. A person's merges are records of the log:

    entity_merge    {"from": "9f…", "into": "03…"}   keyed hashes of names (`siftd.graph.names.Marks`): no record names
                                                     what is forgotten
    entity_unmerge  {"merge": 31}                    takes back the one whose record is 31

What was renamed follows from `RENAMED_TO`, whichever was said last.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple

from siftd.log.record import Record
from siftd.store import graph_relations
from siftd.store.graph_names import canonical, find_id

RENAMED_TO = "RENAMED_TO"
_PERSONS = """
SELECT dst_mark FROM entity_merges WHERE src_mark = ? AND undone_ts IS NULL ORDER BY id DESC
"""
_RENAMED = """
SELECT e.dst_named, e.ts FROM relation_evidence e JOIN relations r ON r.id = e.relation_id AND r.type = 'RENAMED_TO'
WHERE e.src_named = ? AND e.until_ts IS NULL ORDER BY e.ts DESC LIMIT 1
"""
_RENAMED_BACK = """
SELECT max(e.ts) FROM relation_evidence e JOIN relations r ON r.id = e.relation_id AND r.type = 'RENAMED_TO'
WHERE e.dst_named = ? AND e.until_ts IS NULL
"""
_MEMBERS = """
WITH RECURSIVE members (id) AS (
    SELECT ? UNION SELECT e.id FROM members m JOIN entities e ON e.merged_into = m.id)
SELECT id FROM members
"""
_MERGES = "SELECT id, ts, src_mark, dst_mark, undone_ts FROM entity_merges ORDER BY id"
_QUEUED = "SELECT item FROM graph_queue WHERE item GLOB 'x*' LIMIT ?"
QUEUED_MAX = 20
"""Entities that are looked after at once; all that is merged into one is looked at."""
PIECE = 100
"""Mentions and evidence that are counted elsewhere in one transaction: some 50 ms, for which a capture may wait."""
_COUNTED_AT = "SELECT DISTINCT entity_id FROM mentions WHERE named = ? AND entity_id <> ?"
_MOVE_MENTIONS = """
UPDATE mentions SET entity_id = ? WHERE named = ? AND entity_id = ? AND item IN (
    SELECT m.item FROM mentions m WHERE m.named = ? AND m.entity_id = ? LIMIT ?)
"""


class Merge(NamedTuple):
    """A merge that a person asked for."""

    id: int
    ts: int
    src_mark: str
    dst_mark: str
    undone_ts: int | None


def apply_merge(connection: sqlite3.Connection, payload: dict[str, Any], record: Record) -> None:
    """Note a person's merge, and do it when both are there; else whoever comes last does (`settle`)."""
    connection.execute(
        "INSERT OR IGNORE INTO entity_merges VALUES (?, ?, ?, ?, NULL)",
        (record.seq, payload.get("ts", record.ts), payload["from"], payload["into"]),
    )
    _settle_mark(connection, payload["from"])


def apply_unmerge(connection: sqlite3.Connection, payload: dict[str, Any], record: Record) -> None:
    """Take a person's merge back: what named the one counts for it again."""
    row = connection.execute(
        "UPDATE entity_merges SET undone_ts = coalesce(undone_ts, ?) WHERE id = ? RETURNING src_mark",
        (payload.get("ts", record.ts), payload["merge"]),
    ).fetchone()
    if row is not None:
        _settle_mark(connection, row[0])


def list_merges(connection: sqlite3.Connection) -> list[Merge]:
    """Return what persons merged, those taken back too, in order."""
    return [Merge(*row) for row in connection.execute(_MERGES)]


def find_merge(connection: sqlite3.Connection, entity_id: int) -> int | None:
    """Return the merge, not taken back, that has merged an entity into another one."""
    row = connection.execute(
        "SELECT m.id FROM entity_merges m JOIN entities e ON e.mark = m.src_mark"
        " WHERE e.id = ? AND m.undone_ts IS NULL ORDER BY m.id DESC LIMIT 1",
        (entity_id,),
    ).fetchone()
    return None if row is None else int(row[0])


def settle(connection: sqlite3.Connection, entity_id: int) -> None:
    """Have an entity merged into what it is merged into by now, and what names it count there.

    Of much a first piece: the rest waits in the queue (`settle_queued`).
    """
    row = connection.execute("SELECT mark, merged_into FROM entities WHERE id = ?", (entity_id,)).fetchone()
    if row is None:
        return
    members = _members(connection, entity_id)
    wanted = _target(connection, entity_id, row[0])
    if wanted != row[1] and wanted not in members:  # in a circle whoever came first stays
        connection.execute("UPDATE entities SET merged_into = ? WHERE id = ?", (wanted, entity_id))
    for member in sorted(members):
        if not _recount(connection, member):
            connection.execute("INSERT OR IGNORE INTO graph_queue VALUES (?)", (f"x{member}",))


def settle_all(connection: sqlite3.Connection, entities: Iterable[int]) -> None:
    """Settle several, of which one may have to be parted from another one before that can be merged into it."""
    for entity_id in (*(ordered := sorted(entities)), *ordered):
        settle(connection, entity_id)


def has_queued(connection: sqlite3.Connection) -> bool:
    """Whether entities wait for `settle_queued`."""
    return connection.execute(_QUEUED, (1,)).fetchone() is not None


def settle_queued(connection: sqlite3.Connection) -> int:
    """Look after entities that something was taken from, or that were merged; return how many waited. Bounded: whoever
    wants all of it done asks until none waits."""
    queued = [int(row[0][1:]) for row in connection.execute(_QUEUED, (QUEUED_MAX,))]
    connection.executemany("DELETE FROM graph_queue WHERE item = ?", [(f"x{each}",) for each in queued])
    for entity_id in queued:
        if not _is_named(connection, entity_id):  # nobody may read its name any more
            part_members(connection, entity_id)
            connection.execute("DELETE FROM entities WHERE id = ?", (entity_id,))
    settle_all(connection, queued)
    return len(queued)


def part_members(connection: sqlite3.Connection, entity_id: int) -> None:
    """Have those that were merged into an entity stand by themselves, all of them at once: it goes."""
    for (member,) in connection.execute("SELECT id FROM entities WHERE merged_into = ?", (entity_id,)).fetchall():
        connection.execute("UPDATE entities SET merged_into = NULL WHERE id = ?", (member,))
        for each in _members(connection, member):
            while not _recount(connection, each):
                pass


def _recount(connection: sqlite3.Connection, named: int) -> bool:
    """Have a piece of what names an entity count where it belongs now; return whether that was the last.

    Where it counted so far its mentions say, so they come last.
    """
    belongs = canonical(connection, named)
    room = PIECE
    for (elsewhere,) in connection.execute(_COUNTED_AT, (named, belongs)).fetchall():
        room -= graph_relations.reattach(connection, named, elsewhere, room)
        if room <= 0:
            return False
        moved = connection.execute(_MOVE_MENTIONS, (belongs, named, elsewhere, named, elsewhere, room)).rowcount
        room -= moved
        if room <= 0:
            return False
    return True


def settle_created(connection: sqlite3.Connection, entity_id: int) -> None:
    """See whether a person has merged an entity that has just come (again), or another one into it."""
    row = connection.execute("SELECT mark FROM entities WHERE id = ?", (entity_id,)).fetchone()
    settle(connection, entity_id)
    for (mark,) in connection.execute(
        "SELECT DISTINCT src_mark FROM entity_merges WHERE dst_mark = ? AND undone_ts IS NULL", row
    ).fetchall():
        _settle_mark(connection, mark)


def _settle_mark(connection: sqlite3.Connection, mark: str) -> None:
    entity_id = find_id(connection, mark)
    if entity_id is not None:
        settle(connection, entity_id)


def _target(connection: sqlite3.Connection, entity_id: int, mark: str) -> int | None:
    """Return what an entity is merged into: by a person, else by its being renamed; None where it stands by itself."""
    for (into,) in connection.execute(_PERSONS, (mark,)).fetchall():
        found = find_id(connection, into)
        if found is not None and found != entity_id:
            return found
    renamed = connection.execute(_RENAMED, (entity_id,)).fetchone()
    if renamed is None:
        return None
    back = connection.execute(_RENAMED_BACK, (entity_id,)).fetchone()[0]
    return None if back is not None and back >= renamed[1] else int(renamed[0])


def _members(connection: sqlite3.Connection, entity_id: int) -> set[int]:
    """Return an entity and all that are merged into it, or into one of those."""
    return {int(row[0]) for row in connection.execute(_MEMBERS, (entity_id,))}


def _is_named(connection: sqlite3.Connection, entity_id: int) -> bool:
    return connection.execute("SELECT 1 FROM mentions WHERE named = ? LIMIT 1", (entity_id,)).fetchone() is not None
