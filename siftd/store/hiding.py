"""What single sessions hide, taken out of what they have stored: found in one pass, and rewritten only where it is.

As `siftd.store.scrubbing`, but of some sessions and for some values alone. `admission` is one that seeks these values
(`Admission.seeking`). Everything may be done again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from siftd.capture.admission import Admission
from siftd.redact.session_values import Sought
from siftd.store.scrubbing import CHUNK, EVENT_COLUMNS, Scrubbed, scrub_events, scrub_texts, text_columns, transaction
from siftd.store.tombstones import summarise_again

_OF_SESSION = f"SELECT {EVENT_COLUMNS} FROM events WHERE session_id = ? AND id > ? ORDER BY id LIMIT ?"  # noqa: S608 - constants only
_SUMMARIES = """
SELECT s.event_id, s.text FROM summaries s JOIN events e ON e.id = s.event_id WHERE e.session_id = ?
"""
_TABLES = ("facts", "conversations", "sessions")
"""Tables of texts that name a session; all else that may hold an event's words goes with the event."""


class Holders(NamedTuple):
    """What of one session holds something that the session hides."""

    session_id: str
    events: list[int]
    summarised: list[int]
    """Events of which a summary holds it."""
    texts: dict[str, list[int]]
    """Rows of other tables, by table."""

    def __bool__(self) -> bool:
        return bool(self.events or self.summarised or self.texts)


def find_holders(connection: sqlite3.Connection, sought: Sought) -> list[Holders]:
    """Return what holds what is sought, session by session. Reads each event of these sessions once."""
    columns = text_columns(connection)
    found = (_holders(connection, session_id, sought, columns) for session_id in sought.sessions)
    return [each for each in found if each]


def _holders(connection: sqlite3.Connection, session_id: str, sought: Sought, columns: dict[str, list[str]]) -> Holders:
    known = sought.known(session_id)
    assert known is not None
    holders = Holders(session_id, [], [], {})
    for rows in _chunks(connection, session_id):
        holders.events.extend(row[0] for row in rows if known.find_suspects(_texts(row[3])))
    for event_id, text in connection.execute(_SUMMARIES, (session_id,)):
        if known.find_suspects([text]):
            holders.summarised.append(event_id)
    for table in _TABLES:
        names = [name for name in columns.get(table, []) if name != "session_id"]
        texts_of_session = connection.execute(
            f"SELECT rowid, {', '.join(names)} FROM {table} WHERE session_id = ?",  # noqa: S608 - names of our own
            (session_id,),
        )
        if numbers := [
            number for number, *texts in texts_of_session if known.find_suspects([each for each in texts if each])
        ]:
            holders.texts[table] = numbers
    return holders


def hide_rows(connection: sqlite3.Connection, admission: Admission, found: Iterable[Holders]) -> Scrubbed:
    """Take it out of these rows; what was told of them is told anew. A transaction for each chunk."""
    scrubbed = Scrubbed()
    columns = text_columns(connection)
    for holders in found:
        wanted = set(holders.events)
        for rows in _chunks(connection, holders.session_id, after=min(wanted, default=0) - 1) if wanted else ():
            chosen = [row for row in rows if row[0] in wanted]
            scrub_events(connection, admission, chosen, scrubbed, dry_run=False)
        with transaction(connection):
            for event_id in holders.summarised:
                summarise_again(connection, event_id)
        for table, numbers in holders.texts.items():
            names = [name for name in columns[table] if name != "session_id"]
            marks = ", ".join("?" * len(numbers))
            rows = connection.execute(
                f"SELECT rowid, {', '.join(names)} FROM {table} WHERE rowid IN ({marks})",  # noqa: S608 - names of our own
                numbers,
            ).fetchall()
            scrub_texts(connection, admission, table, names, rows, scrubbed, session_id=holders.session_id)
    return scrubbed


def _chunks(connection: sqlite3.Connection, session_id: str, after: int = 0) -> Iterator[list[Any]]:
    last = after
    while rows := connection.execute(_OF_SESSION, (session_id, last, CHUNK)).fetchall():
        last = rows[-1][0]
        yield rows


def _texts(payload_json: str) -> list[str]:
    """Return every string of a payload, object keys too."""
    try:
        waiting = [msgspec.json.decode(payload_json)]
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return [payload_json]
    texts = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            texts.append(node)
        elif isinstance(node, dict):
            waiting += [*node, *node.values()]
        elif isinstance(node, list):
            waiting += node
    return texts
