"""Search over a small store: what is found, what is filtered, what is hidden, and why."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opened_memory import opened
from workbench import DAY_MS, NOON_MS, Workbench, summary_of

from siftd.consolidate.indexing import RawIndexer
from siftd.errors import RequestInvalid
from siftd.filters import Filters
from siftd.search import lexical, vectors
from siftd.search import query as query_module
from siftd.search import row_cache as rows_module
from siftd.search.engine import SearchEngine
from siftd.search.query import Question, trigrams_match
from siftd.search.relevance import inflections
from siftd.search.row_cache import Rows
from siftd.store import search_reads
from siftd.store.scope import Scope
from siftd.summarise.contract import Summary


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    async with Workbench(tmp_path) as opened:
        yield opened


async def told_of(bench: Workbench, *texts: str, **fields: Any) -> list[int]:
    """Capture, summarise, embed and index."""
    ids = await bench.tell(*texts, **fields)
    await bench.settle()
    return ids


def retrievers(bench: Workbench, query: str, event_id: int, **filters: Any) -> set[str]:
    """Return the retrievers that found an event."""
    for hit in bench.search(query, 50, **filters).hits:
        if hit["eventId"] == event_id:
            return {retriever for retriever, found in hit["why"].items() if isinstance(found, dict)}
    return set()


# What is found


async def test_a_hit_has_everything_that_its_readers_rely_on(bench: Workbench) -> None:
    (event_id,) = await told_of(bench, "mended the parser")
    found = bench.search("parser")
    assert found.degraded is None
    (hit,) = found.hits
    assert hit["id"] == "s1"
    assert (hit["kind"], hit["eventId"], hit["sessionId"], hit["tool"]) == ("summary", event_id, "s1", "Bash")
    assert (hit["ts"], hit["text"]) == (NOON_MS, "mended the parser")
    assert hit["score"] > 0
    assert {"words", "raw", "vector", "own", "session", "recency", "confidence"} <= set(hit["why"])
    assert hit["why"]["words"]["rank"] == 1


async def test_a_natural_question_does_not_fail_for_one_missing_word(bench: Workbench) -> None:
    (event_id, *_) = await told_of(bench, "the parser rejects empty invoices", "painted the fence")
    assert bench.hits("why does our parser reject an empty xylophone?")[0] == event_id


async def test_a_rare_word_counts_more_than_common_ones(bench: Workbench) -> None:
    ids = await told_of(bench, *(f"ran the build step {number}" for number in range(30)), "ran the okapi step")
    assert bench.hits("ran the build okapi")[0] == ids[-1]


async def test_of_a_common_word_only_the_newest_rows_are_read_and_of_a_rare_one_all(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await told_of(bench, "common okapi", *(f"common step {number}" for number in range(30)), "common zebra")
    monkeypatch.setattr(lexical, "FIRST_POSTINGS", 5)
    monkeypatch.setattr(lexical, "POSTINGS_BUDGET", 4)
    monkeypatch.setattr(lexical, "COMMON_SHARE", 2.0)
    found = lexical.find(bench.store.reader, "summaries_fts", len(ids), ['"common"', '"okapi"', '"nowhere"'])
    assert found.ids[found.shares.argmax()] == 1
    assert len(found.ids) == 10
    assert found.missing == {'"nowhere"'}
    assert bench.hits("common okapi", 1) == [ids[0]]


async def test_a_word_that_nearly_every_row_has_is_looked_up_only_where_it_carries_the_question(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await told_of(bench, "common okapi", *(f"common step {number}" for number in range(30)))
    monkeypatch.setattr(lexical, "FIRST_POSTINGS", 5)
    beside = lexical.find(bench.store.reader, "summaries_fts", len(ids), ['"common"', '"okapi"'])
    assert beside.ids.tolist() == [1]
    assert beside.weights['"common"'] < beside.weights['"okapi"']
    alone = lexical.find(bench.store.reader, "summaries_fts", len(ids), ['"common"'])
    assert len(alone.ids) == len(ids)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("renamed validateToken", "validate token"),
        ("the user must validate a token", "validateToken"),
        ("renamed validate_token", "validateToken"),
        ("edited src/billing/invoice_parser.py", "invoice parser"),
        ("edited src/billing/invoice_parser.py", "src/billing/invoice_parser.py"),
        ("rejects expired tokens", "token"),
        ("rejects an expired token", "tokens rejected"),
        ("the crash in parseHTTPHeader", "http header"),
        ("升级了数据库的连接池", "数据库"),
        ("认证令牌已经过期", "令牌"),
        ("データベースの接続を修正した", "データベース"),
        ("サーバーを再起動しました", "再起動"),
        ("서버를 다시 시작했다", "서버"),
        ("Обновил настройки сервера", "настройки"),
        ("updated the café menu", "cafe"),
        ("updated the cafe menu", "café"),
        ("Größe der Straße geändert", "strasse"),
    ],
)
async def test_words_are_found_however_they_are_written(bench: Workbench, text: str, query: str) -> None:
    noise = ["painted the fence", "made some tea", "升级", "walked the dog"]
    ids = await told_of(bench, text, *noise)
    assert bench.hits(query)[0] == ids[0]
    assert "words" in retrievers(bench, query, ids[0])


async def test_a_piece_of_a_word_is_found_by_its_trigrams(bench: Workbench) -> None:
    ids = await told_of(bench, "restarted kubernetes", "painted the fence")
    assert "trigram" in retrievers(bench, "bernet", ids[0])
    assert bench.hits("bernet")[0] == ids[0]


async def test_other_words_for_the_same_are_near(bench: Workbench) -> None:
    ids = await told_of(bench, "authentication of the users is stricter", "painted the fence")
    assert "vector" in retrievers(bench, "authenticating a user", ids[0])


async def test_accents_are_taken_off_for_raw_events_too(bench: Workbench) -> None:
    await bench.tell("naïve café")
    await RawIndexer(bench.store).run()
    assert bench.hits("café") == [1]


async def test_a_raw_event_is_found_before_it_has_a_summary(bench: Workbench) -> None:
    (event_id,) = await bench.tell("make okapi")
    await RawIndexer(bench.store).run()
    (hit,) = bench.search("okapi").hits
    assert (hit["id"], hit["kind"], hit["eventId"]) == (f"e{event_id}", "event", event_id)
    assert "okapi" in hit["text"]


async def test_a_summary_and_its_raw_event_are_one_hit(bench: Workbench) -> None:
    (event_id,) = await told_of(bench, "make okapi")
    assert bench.hits("okapi") == [event_id]
    assert retrievers(bench, "okapi", event_id) == {"words", "raw", "vector"}


async def test_of_equals_the_more_recent_comes_first(bench: Workbench) -> None:
    (recent,) = await bench.tell("walked one okapi", ts=NOON_MS)
    (old,) = await bench.tell("walked two okapi", ts=NOON_MS - 300 * DAY_MS)
    await bench.settle()
    assert bench.hits("okapi") == [recent, old]


async def test_a_project_that_rests_grows_no_older(bench: Workbench) -> None:
    """Ages are counted from the newest event that is asked about, not from the day on which somebody comes back."""
    (recent,) = await bench.tell("walked one okapi", session="new", ts=NOON_MS)
    (old,) = await bench.tell("walked two okapi", session="old", ts=NOON_MS - 30 * DAY_MS)
    await bench.settle()
    bench.clock.forward(400 * DAY_MS / 1000)
    lifts = {hit["eventId"]: hit["why"]["recency"] for hit in bench.search("okapi").hits}
    assert lifts == {recent: pytest.approx(0.4), old: pytest.approx(0.2)}
    (then,) = bench.search("okapi", as_of=NOON_MS - 1).hits
    assert (then["eventId"], then["why"]["recency"]) == (old, pytest.approx(0.4))


async def test_nearness_by_a_model_counts_less(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    await told_of(bench, "walked one okapi")
    by_vector = {"words": 0.0, "raw": 0.0, "trigram": 0.0}
    (by_words,) = bench.engine.search("okapi", 1, Filters(), weights=by_vector).hits
    monkeypatch.setattr(vectors, "BUILT_IN", ())
    (by_model,) = bench.engine.search("okapi", 1, Filters(), weights=by_vector).hits
    assert by_model["why"]["own"] == pytest.approx(0.7 * by_words["why"]["own"], abs=1e-5)


async def test_a_score_is_its_parts_times_each_lift(bench: Workbench) -> None:
    await bench.tell("walked one okapi", tool="UserPromptSubmit", ts=NOON_MS)
    await told_of(bench, "walked two okapi")
    for hit in bench.search("when did I walk the okapi").hits:
        why = hit["why"]
        parts = why["own"] + why["session"] + why["diversity"]
        score = parts * (1 + why["recency"]) * (1 + why["confidence"]) * (1 + why["prompt"])
        score *= (1 + why["conclusion"]) * (1 + why["answer"])
        assert hit["score"] == pytest.approx(score, abs=1e-4)


async def test_the_best_live_summary_of_an_event_is_shown(bench: Workbench) -> None:
    (event_id,) = await told_of(bench, "okapi, told poorly")
    bench.by_hand(
        "INSERT INTO summaries (event_id, ts, model, prompt_hash, text, confidence)"
        f" VALUES ({event_id}, 1, 'better', '', 'okapi, told well', 0.95)"
    )
    (hit,) = bench.search("okapi").hits
    assert (hit["text"], hit["id"]) == ("okapi, told well", "s2")


# Any text is a query


@pytest.mark.parametrize(
    "text",
    [
        '"',
        '"okapi',
        "okapi AND",
        "okapi NOT zebra",
        "NEAR(okapi zebra, 2)",
        "(okapi",
        "okapi*",
        "text:okapi",
        "^okapi",
        "okapi + -zebra",
        "{okapi}",
        "okapi; DROP TABLE events; --",
        "ok\x00api okapi",
        "🦓 okapi 🦓",
        "okapi\u202e\ufeff",
        "okapi\t\n\r okapi",
    ],
)
async def test_no_text_is_syntax(bench: Workbench, text: str) -> None:
    (event_id, *_) = await told_of(bench, "saw an okapi", "painted the fence")
    assert bench.search(text).degraded is None
    if "okapi" in text:
        assert bench.hits(text)[0] == event_id


@pytest.mark.parametrize("text", ["", "   ", "?!… -- ()", "\x00", "🦓"])
async def test_a_query_without_a_word_finds_nothing_and_is_no_error(bench: Workbench, text: str) -> None:
    await told_of(bench, "saw an okapi")
    assert bench.search(text).hits == []


@pytest.mark.parametrize("text", ["what was it that they did to the", "is it", "the"])
async def test_a_query_of_nothing_but_stop_words_is_answered(bench: Workbench, text: str) -> None:
    """With little or nothing, but whole: such words carry no question."""
    await told_of(bench, "saw an okapi", "painted the fence")
    answer = bench.search(text)
    assert (answer.degraded, len(answer.hits) <= 1) == (None, True)


async def test_a_script_from_right_to_left_is_found(bench: Workbench) -> None:
    await told_of(bench, "saw an okapi", "תוקן התור בשרת")
    assert bench.hits("התור?")[0] == 2


async def test_a_filter_that_nothing_matches_finds_nothing(bench: Workbench) -> None:
    await told_of(bench, "saw an okapi")
    for filters in ({"file": "nowhere.py"}, {"session": "none"}, {"tool": "NoTool"}, {"since": 2**62}):
        answer = bench.search("okapi", **filters)
        assert (answer.hits, answer.degraded) == ([], None), filters


async def test_a_query_of_100_kb_is_cut_and_answered(bench: Workbench) -> None:
    (event_id,) = await told_of(bench, "saw an okapi")
    assert bench.hits("okapi " + "lorem ipsum " * 8500) == [event_id]
    assert len(Question.of("x" * 100_000).text) == query_module.QUERY_CHARS_MAX


@pytest.mark.parametrize(("k", "found"), [(0, 0), (-1, 0), (1, 1), (3, 3), (10**9, 5)])
async def test_k_bounds_the_hits_whatever_it_is(bench: Workbench, k: int, found: int) -> None:
    await told_of(bench, *(f"okapi {number}" for number in range(5)))
    assert len(bench.search("okapi", k).hits) == found


async def test_an_unknown_kind_is_refused_by_name(bench: Workbench) -> None:
    with pytest.raises(RequestInvalid) as refused:
        bench.search("okapi", kind="dream")
    assert "summary" in refused.value.hint


# Filters


SHOWN = 70
"""More than a retriever is deep: who filters after the cut finds nothing."""


@pytest.fixture
async def crowded(tmp_path: Path) -> AsyncIterator[tuple[Workbench, int]]:
    """Many that match better, and one that alone is inside every filter."""
    async with Workbench(tmp_path) as bench:
        await bench.tell(*(f"okapi okapi {number}" for number in range(SHOWN)))
        call = bench.call(
            "an okapi was seen once, among many other things that fill this line",
            session="wanted-session",
            ts=NOON_MS - 10 * DAY_MS,
            tool="Edit",
            outcome="failed",
            file_path="/src/app/wanted_[id].py",
            old_string="",
            new_string="def wantedFunction():\n    return 1\n",
        )
        (receipt,) = await bench.store.keep(call)
        await bench.settle()
        assert receipt.event_id is not None
        yield bench, receipt.event_id


INSIDE: list[dict[str, Any]] = [
    {"tool": "Edit"},
    {"tool": "edit"},
    {"session": "wanted-session"},
    {"session": "wanted"},
    {"file": "/src/app/wanted_[id].py"},
    {"file": "wanted_[id].py"},
    {"file": "app/wanted_[id].py"},
    {"file": "*/app/*.py"},
    {"file": "app/*"},
    {"until": NOON_MS - 9 * DAY_MS},
    {"since": NOON_MS - 11 * DAY_MS, "until": NOON_MS - 9 * DAY_MS},
    {"kind": "failure"},
    {"symbol": "wantedFunction"},
    {"symbol": "wantedfunction"},
    {"tool": "Edit", "session": "wanted-session", "symbol": "wantedFunction", "kind": "summary"},
]
OUTSIDE: list[dict[str, Any]] = [
    {"tool": "Ed"},
    {"session": "session"},
    {"session": "*"},
    {"file": "nted_[id].py"},
    {"file": "%"},
    {"symbol": "wanted"},
    {"since": NOON_MS + DAY_MS},
]


@pytest.mark.slow
async def test_every_filter_applies_before_the_cut(crowded: tuple[Workbench, int]) -> None:
    bench, wanted = crowded
    for filters in INSIDE:
        assert bench.hits("okapi", **filters) == [wanted], filters
        assert retrievers(bench, "okapi", wanted, **filters) == {"words", "raw", "vector"}, filters
        assert bench.hits("", **filters) == [wanted], filters


@pytest.mark.slow
async def test_a_filter_takes_no_part_for_the_whole(crowded: tuple[Workbench, int]) -> None:
    bench, _ = crowded
    for filters in OUTSIDE:
        assert bench.hits("okapi", **filters) == [], filters


@pytest.mark.slow
async def test_raw_events_and_summaries_can_be_asked_for_apart_before_the_cut(crowded: tuple[Workbench, int]) -> None:
    bench, _ = crowded
    (raw,) = await bench.tell("okapi, raw, among other things that nobody has summarised so far")
    await RawIndexer(bench.store).run()
    assert bench.hits("okapi", kind="event") == [raw]
    assert bench.hits("", kind="event") == [raw]
    assert raw not in bench.hits("okapi", 200, kind="summary")


async def test_kinds_of_events_are_told_apart(bench: Workbench) -> None:
    (call,) = await bench.tell("okapi")
    (failed,) = await bench.tell("okapi again", outcome="failed")
    (prompt,) = await bench.tell("okapi please", tool="UserPromptSubmit", outcome=None)
    (stop,) = await bench.tell("okapi done", tool="Stop", outcome=None)
    await bench.settle()
    kinds = {kind: sorted(bench.hits("okapi", kind=kind)) for kind in ("tool", "failure", "prompt", "stop")}
    assert kinds == {"tool": [call, failed], "failure": [failed], "prompt": [prompt], "stop": [stop]}


async def test_filters_without_a_query_give_the_latest_newest_first(bench: Workbench) -> None:
    bench.backend.verdict = lambda item: Summary(text=summary_of(item).text, confidence=item.event_id % 2 * 1.0)
    ids = [(await bench.tell(f"step {number}", ts=NOON_MS + number))[0] for number in range(8)]
    await bench.settle()
    assert bench.hits("", tool="Bash") == ids[::-1]
    assert bench.hits(" ", 3, session="s1") == ids[:-4:-1]


async def test_as_of_answers_as_things_stood_then(bench: Workbench) -> None:
    """What only something later hides is shown, and nothing later is."""
    (older,) = await bench.tell("mended parseInvoice for okapi", ts=NOON_MS - 10 * DAY_MS)
    (newer,) = await bench.tell("mended parseInvoice for okapi", ts=NOON_MS - DAY_MS)
    await bench.settle()
    assert bench.hits("okapi") == [newer]
    assert bench.hits("okapi", as_of=NOON_MS - 5 * DAY_MS) == [older]
    assert bench.hits("", as_of=NOON_MS - 5 * DAY_MS) == [older]
    assert bench.hits("okapi", as_of=NOON_MS) == [newer]
    assert bench.hits("okapi", as_of=NOON_MS - 20 * DAY_MS) == []


async def test_hits_can_be_grouped_by_session(bench: Workbench) -> None:
    first = await bench.tell("okapi fed", "okapi washed", "okapi brushed", session="many")
    (other,) = await bench.tell("an okapi was seen from far away", session="one")
    await bench.settle()
    grouped = bench.engine.search("okapi", 10, Filters(), group="session").hits
    assert [hit["sessionId"] for hit in grouped] == ["many", "one"]
    assert [hit["why"]["confidence"] for hit in grouped] == [0, 0]
    assert grouped[0]["eventId"] in first
    assert grouped[1]["eventId"] == other
    with pytest.raises(RequestInvalid):
        bench.engine.search("okapi", 10, Filters(), group="colour")


async def test_a_session_is_found_by_what_a_later_one_has_said_again(bench: Workbench) -> None:
    await bench.tell("mended parseInvoice for okapi", session="first", ts=NOON_MS - DAY_MS)
    (again,) = await bench.tell("mended parseInvoice for okapi", session="again")
    await bench.settle()
    assert bench.hits("parseInvoice") == [again]
    grouped = bench.engine.search("parseInvoice", 10, Filters(), group="session").hits
    assert [hit["sessionId"] for hit in grouped] == ["again", "first"]
    assert [hit["text"] for hit in grouped] == ["mended parseInvoice for okapi"] * 2


async def test_a_session_that_tells_several_sides_of_a_thing_comes_before_one_that_tells_one(bench: Workbench) -> None:
    """Asked, run and told at the end: three kinds of work; the other one only ran it, more often."""
    for tool, outcome in (("UserPromptSubmit", None), ("Bash", "ok"), ("Stop", None)):
        await bench.tell("okapi fed", tool=tool, outcome=outcome, session="several", ts=NOON_MS - DAY_MS)
    await bench.tell(*(f"okapi fed {number}" for number in range(4)), session="one")
    await bench.settle()
    grouped = bench.engine.search("okapi fed", 10, Filters(), group="session").hits
    assert [hit["sessionId"] for hit in grouped] == ["several", "one"]


async def test_a_session_gets_a_share_of_what_one_shortly_before_has(bench: Workbench) -> None:
    await bench.tell("okapi fed and washed", session="work", ts=NOON_MS - 2 * DAY_MS)
    await bench.tell("okapi, seen from afar by many", session="after", ts=NOON_MS - 2 * DAY_MS + 60_000)
    await bench.tell("okapi, seen from afar by others", session="never", ts=NOON_MS - 20 * DAY_MS)
    await bench.settle()
    alone, shared = (
        {hit["sessionId"]: hit["score"] for hit in bench.engine.search("okapi fed", 9, Filters(), **asked).hits}
        for asked in ({"group": "session", "weights": {"neighbour": 0.0}}, {"group": "session"})
    )
    assert shared["after"] > alone["after"]
    assert shared["never"] == alone["never"]


async def test_one_session_does_not_fill_every_place(bench: Workbench) -> None:
    """Diversity: of two sessions that answer alike, the second one's best comes before the first one's fifth."""
    await bench.tell(*(f"okapi number {number}" for number in range(12)), session="many")
    (other,) = await bench.tell("okapi number 99", session="one", ts=NOON_MS - 10 * DAY_MS)
    await bench.settle()
    assert other in bench.hits("okapi", 10)


async def test_a_weight_may_be_changed_for_one_search(bench: Workbench) -> None:
    (event_id,) = await told_of(bench, "saw an okapi")
    hits = bench.engine.search("okapi", 5, Filters(), weights={"words": 0, "raw": 0}).hits
    assert [hit["eventId"] for hit in hits] == [event_id]
    assert "words" not in hits[0]["why"]
    for wrong in ({"colour": 1.0}, {"words": -1.0}, {"words": float("nan")}):
        with pytest.raises(RequestInvalid):
            bench.engine.search("okapi", 5, Filters(), weights=wrong)


@pytest.mark.parametrize("query", ['"empty invoices"', 'the "empty invoices"', "inv*", "invoi* empty"])
async def test_phrases_and_beginnings_of_words_are_looked_up(bench: Workbench, query: str) -> None:
    ids = await told_of(bench, "invoices, and one that is empty", "the parser rejects empty invoices")
    hits = bench.hits(query)
    assert set(hits) == set(ids)
    if '"' in query:
        assert hits[0] == ids[1]


@pytest.mark.parametrize("query", ["the of and", "what is it", "שלום עולם", "مرحبا", "x" * 5_000, "'\"' OR 1=1 --"])
async def test_words_that_nothing_holds_find_nothing_and_are_no_error(bench: Workbench, query: str) -> None:
    await told_of(bench, "painted fences")
    assert bench.hits(query) == []


# Hidden and shown


async def test_a_superseded_summary_and_its_event_are_out_of_every_leg(bench: Workbench) -> None:
    older, newer = await told_of(bench, "mended parseInvoice for okapi", "mended parseInvoice for okapi")
    for query in ("parseInvoice", "invoice", "arseInvoi", "okapi mending"):
        assert bench.hits(query) == [newer]
    assert bench.hits("", tool="Bash") == [newer]
    assert bench.hits("parseInvoice", tool="Bash") == [newer]
    assert set(bench.hits("parseInvoice", superseded=True)) == {newer, older}
    assert bench.hits("", tool="Bash", superseded=True) == [newer, older]
    assert retrievers(bench, "parseInvoice", older, superseded=True) == {"words", "raw", "vector"}


async def test_what_is_superseded_is_followed_whatever_is_added_or_taken_away(bench: Workbench) -> None:
    await told_of(bench, "mended the parser", "painted the fence", "fed the okapi")
    rows = Rows(bench.store.reader)

    def hidden_after(*statements: str) -> list[list[int]]:
        bench.by_hand(*statements)
        return [ids.tolist() for ids in rows.superseded()]

    hide = "INSERT INTO summary_supersedes (newer_id, older_id) VALUES ({}, {})"
    take_away = "DELETE FROM summary_supersedes WHERE older_id = {}"
    events = dict(bench.store.reader.execute("SELECT id, event_id FROM summaries"))
    assert hidden_after() == [[], []]
    assert hidden_after(hide.format(3, 1)) == [[1], [events[1]]]
    assert hidden_after(hide.format(3, 2)) == [[1, 2], [events[1], events[2]]]
    assert hidden_after(take_away.format(2), hide.format(1, 3)) == [[1, 3], [events[1], events[3]]]
    assert hidden_after(take_away.format(1)) == [[3], [events[3]]]


async def test_rows_that_share_a_place_are_told_apart(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = await told_of(bench, *(f"painted fence {number}" for number in range(9)))
    monkeypatch.setattr(rows_module, "ROWS_MAX", 4)
    rows = Rows(bench.store.reader)
    asked = np.array([*ids, 10**15, ids[0]])
    for _ in range(2):
        assert rows.events(asked)["ts"].tolist() == [*([NOON_MS] * 9), 0, NOON_MS]
        assert rows.summaries(np.arange(1, 10))["event"].tolist() == ids


async def test_what_was_read_ahead_is_not_read_again(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    await told_of(bench, "mended the parser", "painted the fence")
    found = bench.search("parser fence").hits
    engine = bench.engine
    while engine.read_ahead():
        pass
    for name in ("event_rows", "summary_rows"):
        monkeypatch.delattr(search_reads, name)
    assert engine.search("parser fence", 10, Filters()).hits == found


async def test_after_a_search_a_daemon_reads_ahead_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as memory:
        event_id = await memory.capture(1)
        await memory.ask("drain")
        assert (await memory.ask("search", query="okapi"))["hits"] == []
        await memory.services.store.read(lambda _: None)  # one after the other: what was read ahead is read now
        for name in ("event_rows", "summary_rows"):
            monkeypatch.delattr(search_reads, name)
        (hit,) = (await memory.ask("search", query="part1"))["hits"]
        assert hit["eventId"] == event_id


async def test_searches_that_come_while_a_daemon_reads_ahead_begin_no_second_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, left, begun = asyncio.get_running_loop(), [True] * 32, list[object]()

    async def turns() -> None:
        for _ in range(8):
            await asyncio.sleep(0)

    def read_ahead(_: SearchEngine) -> bool:
        if not left:
            return False
        asyncio.run_coroutine_threadsafe(turns(), loop).result()  # the search before has been answered meanwhile
        left.pop()
        return bool(left)

    async with opened(tmp_path) as memory:
        store = memory.services.store
        repeat = store.repeat
        monkeypatch.setattr(store, "repeat", lambda work: (begun.append(work), repeat(work)))
        monkeypatch.setattr(SearchEngine, "read_ahead", read_ahead)
        for _ in range(4):
            await memory.ask("search", query="okapi")
        while left:
            await store.read(lambda _: None)
        assert len(begun) == 1


async def test_as_many_rows_are_read_ahead_as_there_are_places_for(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await told_of(bench, *(f"painted fence {number}" for number in range(9)))
    monkeypatch.setattr(rows_module, "ROWS_MAX", 4)
    monkeypatch.setattr(rows_module, "PIECE", 3)
    rows = Rows(bench.store.reader)
    assert [rows.read_ahead() for _ in range(5)] == [True, True, True, False, False]  # two pieces each
    with monkeypatch.context() as patched:
        patched.delattr(search_reads, "event_rows")
        patched.delattr(search_reads, "summary_rows")
        assert rows.summaries(np.array([6, 7, 8, 9]))["event"].tolist() == ids[-4:]
        assert rows.events(np.array(ids[-4:]))["ts"].tolist() == [NOON_MS] * 4
    assert rows.events(np.array(ids))["ts"].tolist() == [NOON_MS] * 9


async def test_the_size_of_a_row_is_known_as_soon_as_full_text_holds_it(bench: Workbench) -> None:
    """An event can be found by its summary's vector before its own words are indexed."""
    ids = np.array(await told_of(bench, "mended the parser"))
    rows = Rows(bench.store.reader)
    bench.by_hand("DELETE FROM event_words")
    assert rows.events(ids)["size"].tolist() == [0]
    await RawIndexer(bench.store).run_all()
    assert rows.events(ids)["size"].tolist() > [0]


async def test_an_event_with_one_live_summary_left_is_shown_with_it(bench: Workbench) -> None:
    (event_id,) = await told_of(bench, "first told of the okapi")
    bench.by_hand(
        "INSERT INTO summaries (event_id, ts, model, prompt_hash, text)"
        f" VALUES ({event_id}, 1, 'better', '', 'told anew of the okapi')",
        "INSERT INTO summary_supersedes (newer_id, older_id) VALUES (2, 1)",
    )
    assert [hit["id"] for hit in bench.search("okapi").hits] == ["s2"]


async def test_hidden_rows_do_not_use_up_the_places_of_others(bench: Workbench) -> None:
    ids = await told_of(bench, *["okapi okapi okapi"] * SHOWN, "an okapi, seen among many other things")
    assert bench.hits("okapi") == [ids[-2], ids[-1]]
    assert "vector" in retrievers(bench, "okapi", ids[-1])


# Less than whole


async def test_without_vectors_search_answers_and_says_so(bench: Workbench) -> None:
    (event_id,) = await told_of(bench, "saw an okapi")
    assert bench.search("okapi").degraded is None
    bench.by_hand("DELETE FROM summary_embeddings")
    found = bench.search("okapi")
    assert [hit["eventId"] for hit in found.hits] == [event_id]
    assert "vectors" in (found.degraded or "")


async def test_a_failing_embedder_is_told_without_its_words(bench: Workbench) -> None:
    (event_id,) = await told_of(bench, "saw an okapi")

    def embed_question(text: str, weights: Mapping[str, float]) -> Any:
        raise ConnectionError(text, weights)

    engine = SearchEngine(bench.store.reader, lambda: bench.index, embed_question, bench.clock.now_ms)
    found = engine.search("okapi", 5, Filters())
    assert [hit["eventId"] for hit in found.hits] == [event_id]
    assert found.degraded == "without vectors: the embedder failed (ConnectionError)"


async def test_an_empty_store_is_empty_and_whole(bench: Workbench) -> None:
    found = bench.search("okapi")
    assert (found.hits, found.degraded) == ([], None)


async def test_a_damaged_database_is_never_taken_for_a_failing_embedder(bench: Workbench) -> None:
    await told_of(bench, "saw an okapi")
    engine = SearchEngine(bench.store.reader, lambda: bench.index, _refusing, bench.clock.now_ms)
    with pytest.raises(sqlite3.DatabaseError):
        engine.search("okapi", 5, Filters())


def _refusing(_: str, weights: Mapping[str, float]) -> Any:
    raise sqlite3.DatabaseError("database disk image is malformed")


# Expressions


def test_inflections_are_of_english_words_only() -> None:
    assert {"token", "tokening"} <= set(inflections("tokens"))
    assert {"reject", "rejects", "rejected"} <= set(inflections("rejecting"))
    assert "validate" in inflections("validating")
    assert inflections("ls") == inflections("größe") == inflections("v2") == []


def test_trigrams_are_of_the_terms_that_have_three_characters() -> None:
    assert trigrams_match(["abcd", "xy"]) == '("abc" AND "bcd")'
    assert trigrams_match(['a"b']) == '("a""b")'
    assert trigrams_match(["xy"]) is None


@pytest.mark.parametrize(
    "filters",
    [{"tool": "bash"}, {"session": "s1"}, {"since": 1}, *({"kind": each} for each in ("prompt", "stop", "failure"))],
)
async def test_a_filter_finds_its_rows_without_reading_payloads(bench: Workbench, filters: dict[str, Any]) -> None:
    """All of a large store would be read for a filter that leaves nothing."""
    scope = Scope.of(Filters(**filters))
    sql = f"EXPLAIN QUERY PLAN SELECT e.id FROM events e WHERE {scope.own.sql}"
    [step] = [row[3] for row in bench.store.reader.execute(sql, scope.own.values)]
    assert "INDEX events_" in step
    assert step.startswith("SEARCH") or "INDEX events_failed" in step, "no index is read from end to end"
