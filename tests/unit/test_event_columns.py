"""An event's fields are listed where they are described, and follow from there."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from siftd.capture.redacted import RedactedEvent
from siftd.exchange.format import EventLine
from siftd.log.record import OF_AN_EVENT, Record
from siftd.store.event_columns import COLUMNS, EXPORTED
from siftd.store.migrate import migrate

OF_THE_CONSOLIDATOR = {"status", "attempts", "last_error"}
OF_THE_GATE = {"token", "from_transcript"}
"""What a redacted event says to whoever keeps it, and no longer once it is kept."""


def test_every_field_of_a_redacted_event_is_in_its_record() -> None:
    assert {*RedactedEvent.__struct_fields__} - OF_THE_GATE - {"uid", "payload_json"} == {*OF_AN_EVENT}
    assert {"uid", "payload"} < {*Record.__struct_fields__}


def test_every_column_of_an_event_is_written() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, 0)
        columns = {row[1] for row in connection.execute("PRAGMA table_info(events)")}
    assert {*COLUMNS} == columns - OF_THE_CONSOLIDATOR


def test_an_export_takes_every_column_that_does_not_follow_from_another() -> None:
    fields = {each.rpartition(" ")[2] for each in EXPORTED} - {"payload_json"} | {"payload"}
    assert fields == {*EventLine.__struct_fields__}
