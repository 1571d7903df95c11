"""What a person typed into the database as another type than its column's, made into what every reader expects.

SQLite stores a date typed as text in a column of integers as it is, and code that reckons with it fails. A date becomes
its milliseconds; what is no date becomes the number that it begins with, as SQLite casts it.
"""

from __future__ import annotations

import sqlite3

_TIMES = (
    ("events", "ts"),
    ("sessions", "started_ts"),
    ("sessions", "last_ts"),
    ("sessions", "ended_ts"),
    ("sessions", "compacted_ts"),
    ("summaries", "ts"),
    ("facts", "ts"),
    ("facts", "updated_ts"),
    ("facts", "valid_from"),
    ("facts", "valid_to"),
    ("fact_links", "ts"),
    ("conversations", "ts"),
    ("injections", "ts"),
    ("opt_outs", "since"),
    ("opt_outs", "until"),
)
_NUMBERS = (
    ("summaries", "confidence"),
    ("summaries", "tokens_in"),
    ("summaries", "tokens_out"),
    ("facts", "importance"),
    ("facts", "confidence"),
)
_MILLISECONDS = "CAST(coalesce(1000 * strftime('%s', {0}), {0}) AS INTEGER)"
_NUMBER = "CAST({0} AS NUMERIC)"


def read_moment(column: str) -> str:
    """Return SQL that reads a column of times as it will be once it is mended.

    For columns that nothing reckons with but SQL, where text fails nowhere: it would reach an answer as it is.
    """
    return f"CASE WHEN {column} >= '' THEN {_MILLISECONDS.format(column)} ELSE {column} END"


def mend_types(connection: sqlite3.Connection) -> int:
    """Make text and blobs in columns of times and numbers numbers; return how many values that were.

    Text sorts after every number, so that the index of events' times answers at once; the other tables are read whole.
    Within the caller's transaction.
    """
    mended = 0
    for columns, number in ((_TIMES, _MILLISECONDS), (_NUMBERS, _NUMBER)):
        for table, column in columns:
            # The names are the constants above.
            new = number.format(column)
            mended += connection.execute(f"UPDATE {table} SET {column} = {new} WHERE {column} >= ''").rowcount  # noqa: S608
    return mended
