"""Raw events are findable before anybody has summarised them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from known_kinds import captured
from workbench import Workbench

from siftd.consolidate.indexing import BATCH, RawIndexer, facets_of
from siftd.store import event_index


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    async with Workbench(tmp_path) as opened:
        yield opened


def payload(**fields: object) -> str:
    return json.dumps({"_source": "claude-code", **fields})


def test_words_are_those_of_what_was_asked_and_of_the_end_of_what_was_answered() -> None:
    """A command says at its end how it went."""
    words, _, _ = facets_of(
        captured(
            "Bash",
            payload(tool_response={"stdout": "zebra " + "x " * 5000 + "okapi"}, tool_input={"command": "giraffe"}),
        )
    )
    assert {"bash", "giraffe", "okapi"} <= set(words.split())
    assert "zebra" not in words


def test_a_long_text_counts_as_far_as_there_is_room() -> None:
    words, _, _ = facets_of(captured("Write", payload(tool_input={"content": "giraffe " + "a " * 3000 + "okapi"})))
    assert {"write", "giraffe", "a"} == set(words.split())


def test_what_is_read_or_listed_is_no_word_of_the_event() -> None:
    """It is what the work tree holds, and would be found before what was done with it."""
    answer = {"file": {"content": "okapi"}, "filenames": ["zebra.py"]}
    for tool in ("Read", "Grep", "Glob"):
        words, _, _ = facets_of(captured(tool, payload(tool_input={"pattern": "giraffe"}, tool_response=answer)))
        assert words.split() == [tool.lower(), "giraffe"]


def test_stamps_and_what_an_edit_s_answer_repeats_are_no_content() -> None:
    words, _, _ = facets_of(captured("Edit", payload(tool_response={"originalFile": "okapi"}, symbols=["run_all"])))
    assert words.split() == ["edit", "run_all", "run", "all"]


@pytest.mark.parametrize("key", ["file_path", "notebook_path", "path"])
def test_the_files_are_those_of_the_input(key: str) -> None:
    _, files, _ = facets_of(
        captured("Edit", payload(tool_input={key: "/src/a.py"}, tool_response={"filePath": "/src/b.py"}))
    )
    assert files == ["/src/a.py"]


def test_symbols_are_the_stamped_ones() -> None:
    _, _, symbols = facets_of(captured("Edit", payload(symbols=["a", "b", 3])))
    assert symbols == ["a", "b"]


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("no json zebra", "no json zebra"),
        ('["zebra"]', "zebra"),
        ("[" * 5000, ""),
        ('{"symbols":5}', "bash"),
        ('{"tool_input":5}', "bash"),
        ('{"tool_input":{"file_path":"\\ud800"}}', "tool_input tool input file_path file path ud800 ud 800"),
    ],
)
def test_what_a_person_has_broken_is_indexed_as_far_as_it_can_be(broken: str, words: str) -> None:
    assert facets_of(captured("Bash", broken)) == (words, [], [])


async def test_a_batch_at_a_time_then_nothing(bench: Workbench) -> None:
    await bench.tell(*(f"call {number}" for number in range(BATCH + 3)))
    indexer = RawIndexer(bench.store)
    assert [await indexer.run() for _ in range(3)] == [BATCH, 3, 0]
    await bench.tell("one more")
    assert await indexer.run() == 1


async def test_a_large_store_is_looked_through_in_turns(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches wait for the reading thread, and a daemon's first tick looks at every event."""
    monkeypatch.setattr(event_index, "SPAN", 10)
    await bench.tell(*(f"call {number}" for number in range(35)))
    indexer = RawIndexer(bench.store)
    while await indexer.run():
        pass
    assert bench.rows("SELECT count(*) FROM event_words") == [(35,)]
    assert event_index.list_unindexed_after(bench.store.reader, 0, BATCH) == ([], 10)
    bench.by_hand("DELETE FROM event_words WHERE event_id = 34")
    assert await RawIndexer(bench.store).run() == 1


async def test_indexing_an_event_twice_leaves_full_text_whole(bench: Workbench) -> None:
    """Two may do it at once: who waits for captures, and who mends what a person changed."""
    await bench.tell("zebra", file_path="/src/a.py")
    ids = [1]
    await RawIndexer(bench.store).index_batch(ids)
    await RawIndexer(bench.store).index_batch(ids)
    bench.by_hand("INSERT INTO events_fts (events_fts, rank) VALUES ('integrity-check', 1)")
    assert bench.rows("SELECT count(*) FROM events_fts WHERE events_fts MATCH 'zebra'") == [(1,)]


async def test_a_payload_changed_by_hand_is_found_by_its_new_words(bench: Workbench) -> None:
    await bench.tell("zebra", file_path="/src/a.py")
    indexer = RawIndexer(bench.store)
    await indexer.run()
    bench.by_hand("""UPDATE events SET payload_json = '{"tool_input":{"command":"okapi"}}'""")
    await indexer.run_all()
    assert (bench.hits("okapi"), bench.hits("zebra")) == ([1], [])
    assert bench.hits("okapi", file="/src/a.py") == []
