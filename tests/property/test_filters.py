"""Filters: what is kept in memory of rows, and listed of them, says what SQL says."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from siftd.filters import Filters
from siftd.search import retrievers as retrievers_module
from siftd.search.query import Question
from siftd.search.retrievers import Retrievers
from siftd.search.row_cache import Rows
from siftd.store.migrate import migrate
from siftd.store.scope import KINDS, Scope

TOOLS = ["Bash", "bash", "Edit", "UserPromptSubmit", "userpromptsubmit", "Stop", "SubagentStop", "STOP", "Ä", "ä", ""]
SESSIONS = ["a", "ab", "a*", "a[b]", "A", "é1", "é2", "b"]
FILES = ["/src/a.py", "/src/ä.py", "lib/a.py", "/src/A.py", "/src/b_c.py"]
SYMBOLS = ["load", "Load", "lo%d"]
FACETS_EVERY = 6
TIMES = [-5, 0, 1, 7, 2**62]


def filled_store() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, 1)
    connection.executemany(
        "INSERT INTO events (ts, session_id, tool, input_hash, payload_json) VALUES (?, ?, ?, 'x', '{}')",
        [(ts, session, tool) for ts in TIMES for session in SESSIONS for tool in TOOLS],
    )
    connection.execute("INSERT INTO event_words SELECT id, 'okapi' FROM events WHERE id % 2")
    connection.execute("UPDATE events SET outcome = CASE WHEN id % 3 THEN 'ok' ELSE 'failed' END")
    connection.executemany(
        f"INSERT INTO event_facets (event_id, facet, value) SELECT id, ?, ? FROM events WHERE id % {FACETS_EVERY} = ?",
        [
            (facet, value, n)
            for facet, values in (("file", FILES), ("symbol", SYMBOLS))
            for n, value in enumerate(values)
        ],
    )
    for twice in range(2):
        connection.execute(
            "INSERT INTO summaries (event_id, ts, model, prompt_hash, text, confidence, words)"
            " SELECT id, ts, 'extractive', ?, 'okapi', 0.5, 'okapi' FROM events WHERE id % 4 > ?",
            (str(twice), twice),
        )
    connection.execute(
        "INSERT INTO summary_supersedes (newer_id, older_id, cosine)"
        " SELECT n.id, o.id, 0.99 FROM summaries n JOIN summaries o ON o.id = n.id * 7 % 500 + 1 WHERE n.id % 5 < 2"
    )
    return connection


STORE = filled_store()
IDS = np.array([row[0] for row in STORE.execute("SELECT id FROM events ORDER BY id")] + [10**9])
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
    within = IDS[ROWS.are_within(IDS, scope.columns)]
    sql = f"SELECT e.id FROM events e WHERE {scope.whole.sql} ORDER BY e.id"
    assert within.tolist() == [row[0] for row in STORE.execute(sql, scope.whole.values)]


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "file": st.sampled_from([*FILES, "a.py", "src/a.py", "*.py", "/src/*", "b_c.py", "bxc.py", "nothing"]),
            "symbol": st.sampled_from(["load", "LOAD", "lo%d", "nothing"]),
            "kind": st.sampled_from(KINDS),
            "tool": st.sampled_from(TOOLS),
            "session": st.sampled_from(SESSIONS),
            "since": st.sampled_from(TIMES),
            "until": st.sampled_from(TIMES),
            "as_of": st.sampled_from(TIMES),
            "superseded": st.booleans(),
            "type": st.just("decision"),
        },
    ),
    st.sampled_from([0, 40, 4_000]),
)
def test_what_a_search_is_shown_is_what_sql_shows(asked: dict[str, Any], few: int) -> None:
    scope = Scope.of(Filters(**asked))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrievers_module, "FEW", few)
        retrievers = Retrievers(STORE, ROWS, Question.of("okapi"), scope)
    events = f"SELECT e.id FROM events e WHERE {scope.shown} AND {scope.whole.sql} ORDER BY e.id"
    summaries = (
        f"SELECT s.id FROM summaries s JOIN events e ON e.id = s.event_id WHERE {scope.live} AND {scope.whole.sql}"
    )
    told = np.array([row[0] for row in STORE.execute("SELECT id FROM summaries ORDER BY id")])
    for ids, shown, may, sql in (
        (IDS[:-1], retrievers.events_shown, retrievers.few, events),
        (told, retrievers.summaries_shown, retrievers.few_summaries, f"{summaries} ORDER BY 1"),
    ):
        looked_at = ids if may is None else np.intersect1d(ids, may)
        expected = [row[0] for row in STORE.execute(sql, scope.whole.values)]
        assert looked_at[shown(looked_at)].tolist() == expected
    assert not (retrievers.events_definitely_visible(IDS) & ~retrievers.events_shown(IDS)).any()
