"""Superseding: what hides what, and what is never hidden."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from workbench import NOON_MS, Workbench

from siftd.consolidate import superseding
from siftd.consolidate.superseding import Superseder
from siftd.model import Outcome
from siftd.search.vectors import VectorIndex
from siftd.store import summaries


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    async with Workbench(tmp_path) as opened:
        yield opened


SAID = "Edited src/auth.py: validate_token() rejects expired tokens"


def hidden(bench: Workbench) -> list[tuple[int, int]]:
    """Return (event that hides, event that is hidden)."""
    return bench.rows(
        "SELECT n.event_id, o.event_id FROM summary_supersedes x JOIN summaries n ON n.id = x.newer_id"
        " JOIN summaries o ON o.id = x.older_id ORDER BY 1, 2"
    )


async def test_the_newer_of_two_that_say_the_same_hides_the_older(bench: Workbench) -> None:
    (older,) = await bench.tell(SAID, ts=NOON_MS)
    (newer,) = await bench.tell(SAID, ts=NOON_MS + 1)
    await bench.settle()
    assert hidden(bench) == [(newer, older)]
    assert bench.hits("expired tokens") == [newer]
    ((cosine, ts),) = bench.rows("SELECT cosine, ts FROM summary_supersedes")
    assert cosine == pytest.approx(1.0, abs=1e-5)
    assert ts == bench.clock.now_ms()


async def test_what_a_backfill_brings_later_is_older_all_the_same(bench: Workbench) -> None:
    """Its summary has the higher id; what counts is when it happened."""
    (live,) = await bench.tell(SAID, ts=NOON_MS)
    await bench.settle()
    (backfilled,) = await bench.tell(SAID, ts=NOON_MS - 1000)
    await bench.settle()
    assert backfilled > live
    assert hidden(bench) == [(live, backfilled)]


async def test_at_the_same_time_the_higher_event_is_the_newer(bench: Workbench) -> None:
    first, second = await bench.tell(SAID, SAID, ts=NOON_MS)
    await bench.settle()
    assert hidden(bench) == [(second, first)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Replaced redis with postgres in the settings", "Replaced postgres with redis in the settings"),
        ("Server listens on port 5432", "Server listens on port 5433"),
        ("Tokens are validated at the door", "Tokens are not validated at the door"),
    ],
)
async def test_a_contradiction_is_never_hidden(tmp_path: Path, one: str, other: str) -> None:
    """However near the vectors: every pair is near enough here."""
    async with Workbench(tmp_path, values={"memory.consolidator.supersedeCosine": 0.5}) as bench:
        await bench.tell(one, other)
        await bench.settle()
        assert hidden(bench) == []


@pytest.mark.parametrize(("one", "other"), [("failed", "ok"), ("ok", "failed"), ("ok", None)])
async def test_another_outcome_is_another_fact(bench: Workbench, one: Outcome, other: Outcome | None) -> None:
    await bench.tell(SAID, outcome=one)
    await bench.tell(SAID, outcome=other)
    await bench.settle()
    assert hidden(bench) == []


async def test_what_is_below_the_cosine_is_left_alone(tmp_path: Path) -> None:
    async with Workbench(tmp_path, values={"memory.consolidator.supersedeCosine": 1.0}) as bench:
        await bench.tell("`pytest -q`: 3 passed in 0.42s", "`pytest -q`: 3 passed in 0.40s")
        await bench.settle()
        assert hidden(bench) == []


async def test_of_a_row_of_repeats_only_the_newest_is_shown(bench: Workbench) -> None:
    ids = await bench.tell(*[SAID] * 40)
    await bench.settle()
    assert bench.hits("expired tokens", k=50) == [ids[-1]]
    assert {older for _, older in hidden(bench)} == set(ids[:-1])


async def test_a_chain_ends_at_its_newest_link(bench: Workbench) -> None:
    ids = []
    for _ in range(3):
        ids += await bench.tell(SAID)
        await bench.settle()
    assert hidden(bench) == [(ids[1], ids[0]), (ids[2], ids[1])]
    assert bench.hits("expired tokens") == [ids[2]]


async def test_an_old_summary_is_compared_when_it_gets_its_vector_late(bench: Workbench) -> None:
    """Vectors are made newest first: an old summary's may come long after a newer one has been compared."""
    (older,) = await bench.tell(SAID, session="old", ts=NOON_MS - 1000)
    (newer,) = await bench.tell(SAID)
    await bench.drain()
    bench.by_hand(
        "INSERT INTO summary_embeddings SELECT id, 384, zeroblob(1536), 'blend-384' FROM summaries"
        f" WHERE event_id = {older}"
    )
    await bench.settle()
    assert hidden(bench) == []
    bench.by_hand("DELETE FROM summary_embeddings WHERE vec = zeroblob(1536)")
    await bench.settle()
    assert hidden(bench) == [(newer, older)]


async def test_what_was_compared_is_not_compared_again(bench: Workbench) -> None:
    await bench.tell("one thing", "another matter")
    await bench.settle()
    bench.by_hand("UPDATE summaries SET model = 'x'")
    compared: list[int] = []
    alike = bench.index.alike

    def noted(summary_ids: Sequence[int], *others: Any) -> dict[int, list[tuple[int, float]]]:
        compared.extend(summary_ids)
        return alike(summary_ids, *others)

    bench.index.alike = noted  # type: ignore[method-assign]
    await bench.settle()
    assert compared == []
    await bench.tell("a third")
    await bench.settle()
    assert compared == [3]


async def test_a_batch_is_compared_in_short_turns(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that comes meanwhile waits for one of them only."""
    monkeypatch.setattr(superseding, "ROWS", 3)
    (older,) = await bench.tell(SAID, session="old", ts=NOON_MS - 1000)
    await bench.tell(*(f"painted fence {number} in another colour" for number in range(6)))
    (newer,) = await bench.tell(SAID)
    turns: list[range] = []
    alike = bench.index.alike

    def noted(ids: Sequence[int], cosine: float, limit: int, rows: range) -> dict[int, list[tuple[int, float]]]:
        turns.append(rows)
        return alike(ids, cosine, limit, rows)

    bench.index.alike = noted  # type: ignore[method-assign, assignment]
    await bench.settle()
    assert turns == [range(3), range(3, 6), range(6, 9)]
    assert hidden(bench) == [(newer, older)]


async def test_vectors_of_another_embedder_are_not_compared(bench: Workbench) -> None:
    first, second = await bench.tell(SAID, SAID)
    await bench.drain()
    await bench.embedding.run(lambda: True)
    bench.by_hand(
        "UPDATE summary_embeddings SET embedder = 'other'"
        f" WHERE summary_id = (SELECT id FROM summaries WHERE event_id = {first})"
    )
    await bench.superseder.run(lambda: True)
    assert hidden(bench) == []
    await bench.settle()
    assert hidden(bench) == [(second, first)]


async def test_several_summaries_of_one_event_do_not_hide_each_other(bench: Workbench) -> None:
    await bench.tell(SAID)
    await bench.drain()
    bench.by_hand("UPDATE events SET status = 'raw'")
    await bench.settle()
    assert bench.rows("SELECT count(*) FROM summaries") == [(2,)]
    assert hidden(bench) == []


async def test_a_pair_taken_apart_stays_apart_when_its_vectors_are_made_anew(bench: Workbench) -> None:
    older, newer = await bench.tell(SAID, SAID)
    await bench.settle()
    bench.by_hand("DELETE FROM summary_supersedes")
    assert set(bench.hits("expired tokens")) == {older, newer}
    bench.by_hand("DELETE FROM summary_embeddings")
    await bench.settle()
    assert bench.rows("SELECT a_event, b_event FROM kept_apart") == [(older, newer)]
    assert hidden(bench) == []


async def test_what_was_brought_back_is_not_hidden_by_a_third_that_says_the_same(bench: Workbench) -> None:
    first, second, third = await bench.tell(SAID, SAID, SAID)
    await bench.settle()
    bench.by_hand(
        f"DELETE FROM summary_supersedes WHERE older_id = (SELECT id FROM summaries WHERE event_id = {first})"
    )
    bench.by_hand("DELETE FROM summary_embeddings")
    (fourth,) = await bench.tell(SAID)
    await bench.settle()
    assert set(bench.hits("expired tokens")) == {first, fourth}
    assert {older for _, older in hidden(bench)} == {second, third}


async def test_undo_takes_apart_for_good(bench: Workbench) -> None:
    older, newer = await bench.tell(SAID, SAID)
    await bench.settle()
    await bench.store.write(lambda c: summaries.keep_apart(c, newer, older))
    bench.by_hand("DELETE FROM summary_embeddings")
    await bench.settle()
    assert hidden(bench) == []
    assert set(bench.hits("expired tokens")) == {older, newer}


async def test_deleting_what_hides_brings_back_without_keeping_apart(bench: Workbench) -> None:
    older, newer = await bench.tell(SAID, SAID)
    await bench.settle()
    bench.by_hand(f"DELETE FROM events WHERE id = {newer}")
    assert bench.hits("expired tokens") == [older]
    assert bench.rows("SELECT * FROM kept_apart") == []


async def test_without_a_summary_no_index_is_made(bench: Workbench) -> None:
    """It would load numpy into a daemon that has nothing to compare."""

    def made() -> VectorIndex:
        raise AssertionError("an index was made")

    superseder = Superseder(bench.store, made, bench.clock, cosine=0.95)
    assert await superseder.run(lambda: True) == 0
