"""By what notes may tell of what is to be forgotten: the ids that they cite, and what its facts say."""

from __future__ import annotations

import json
import sqlite3

from siftd import ids
from siftd.store.forget_matching import Matched

_SUMMARIES = """
SELECT s.id FROM json_each(?1) j CROSS JOIN summaries s ON s.event_id = j.value
UNION SELECT s.id FROM json_each(?1) j CROSS JOIN provenance_edges p ON p.dst_id = j.value AND p.dst_kind = 'event'
    CROSS JOIN summaries s ON s.event_id = p.src_id WHERE p.src_kind = 'event'
UNION SELECT p.src_id FROM json_each(?1) j CROSS JOIN provenance_edges p ON p.dst_id = j.value AND p.dst_kind = 'event'
    WHERE p.src_kind = 'summary'
"""
_FACTS = "SELECT m.text FROM json_each(?) j CROSS JOIN facts m ON m.id = j.value"


def cited_as(connection: sqlite3.Connection, matched: Matched, *, is_global: bool = False) -> frozenset[str]:
    """Return the ids under which notes may cite what was matched: its events, its facts, and every summary that tells
    of one of these events, and so is written anew."""
    events = sorted({*matched.events, *matched.to_summarise_again})
    summaries = [int(row[0]) for row in connection.execute(_SUMMARIES, (json.dumps(events),))]
    letter = ids.GLOBAL_MEMORY if is_global else ids.MEMORY
    return frozenset(
        ids.cite(kind, number)
        for kind, numbers in ((ids.EVENT, matched.events), (ids.SUMMARY, summaries), (letter, matched.facts))
        for number in numbers
    )


def facts_say(connection: sqlite3.Connection, matched: Matched) -> list[str]:
    """Return what the facts say that were matched and are in the database."""
    return [str(row[0]) for row in connection.execute(_FACTS, (json.dumps(sorted(matched.facts)),))]
