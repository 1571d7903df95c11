"""Which agents' programs wrote into the store: the `_source` of a payload, for a session that of its first event."""

from __future__ import annotations

import sqlite3

from siftd.store.payload import HEAD_CHARS, client_of

OF_A_CLIENT = """
SELECT t.session_id FROM sessions t WHERE (
    SELECT instr(head, '"_source":"' || ? || '"') = max(1, instr(head, '"_source":"'))
    FROM (SELECT substr(f.payload_json, 1, 300) AS head FROM events f
          WHERE f.session_id = t.session_id ORDER BY f.id LIMIT 1))
"""
"""The sessions of one client: as `client_of` reads a payload's beginning."""
_SINCE = """
SELECT t.rowid, (SELECT substr(f.payload_json, 1, ?2) FROM events f WHERE f.session_id = t.session_id
                 ORDER BY f.id LIMIT 1)
FROM sessions t WHERE t.rowid > ?1 ORDER BY t.rowid
"""


class KnownClients:
    """The clients that have written into one store. Each session is looked at once; one thread asks."""

    def __init__(self) -> None:
        self._upto = 0
        self._names: set[str] = set()

    def names(self, connection: sqlite3.Connection) -> list[str]:
        """Return their names. One whose every session was forgotten is among them until the daemon ends."""
        is_complete = True
        for row_id, head in connection.execute(_SINCE, (self._upto, HEAD_CHARS)):
            if head is None:
                is_complete = False  # it has begun, and told nothing yet: it is looked at again
                continue
            if (name := client_of(str(head))) is not None:
                self._names.add(name)
            if is_complete:
                self._upto = int(row_id)
        return sorted(self._names)
