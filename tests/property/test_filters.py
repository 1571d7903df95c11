"""Filters on an event's own columns: the rows that are kept in memory say what SQL says."""

from __future__ import annotations

import sqlite3

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from siftd.messages import Filters
from siftd.search.rows import Rows
from siftd.store import candidates
from siftd.store.migrate import migrate
from siftd.store.scope import Scope

TOOLS = ["Bash", "bash", "Edit", "UserPromptSubmit", "userpromptsubmit", "Stop", "SubagentStop", "STOP", "Ä", "ä", ""]
SESSIONS = ["a", "ab", "a*", "a[b]", "A", "é1", "é2", "b"]
TIMES = [-5, 0, 1, 7, 2**62]


def filled_store() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, 1)
    connection.executemany(
        "INSERT INTO events (ts, session_id, tool, input_hash, payload_json) VALUES (?, ?, ?, 'x', '{}')",
        [(ts, session, tool) for ts in TIMES for session in SESSIONS for tool in TOOLS],
    )
    connection.execute("INSERT INTO event_words SELECT id, 'okapi' FROM events WHERE id % 2")
    return connection


STORE = filled_store()
IDS = np.array([row[0] for row in STORE.execute("SELECT id FROM events")] + [10**9])
ROWS = Rows(STORE)


def maybe(values: list[str]) -> st.SearchStrategy[str | None]:
    return st.one_of(st.none(), st.sampled_from(values), st.text(max_size=3))


@given(
    maybe(TOOLS),
    maybe([each[:length] for each in SESSIONS for length in (1, 2)]),
    st.sampled_from([None, "prompt", "stop", "tool"]),
    st.one_of(st.none(), st.sampled_from([*TIMES, -(2**63), 2**63 - 1])),
    st.one_of(st.none(), st.sampled_from([*TIMES, -(2**63), 2**63 - 1])),
)
def test_an_event_is_within_a_scope_by_its_kept_row_whenever_it_is_by_sql(
    tool: str | None, session: str | None, kind: str | None, since: int | None, until: int | None
) -> None:
    scope = Scope.of(Filters(tool=tool, session=session, kind=kind, since=since, until=until))
    assert scope.columns is not None
    within = IDS[ROWS.are_within(IDS, scope.columns)]
    assert within.tolist() == candidates.shown_events(STORE, IDS.tolist(), scope)
