"""Walks end, are no larger than was asked for, and find what a plain search finds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from drawn_graph import drawn, redraw, relate, steps_from
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from siftd.errors import RequestInvalid
from siftd.store.access import Database
from siftd.store.graph_walk import DEPTH_MAX, FAN, LIMIT_MAX, Along, Met, interruptible, neighbours, path

NOW = Along(at=10)
EDGES = st.lists(st.tuples(st.integers(1, 12), st.integers(1, 12)).filter(lambda edge: edge[0] != edge[1]), max_size=30)


@pytest.fixture
def twelve() -> Iterator[Database]:
    """Twelve entities between which each example draws anew."""
    with drawn(12, []) as connection:
        yield connection


def _ids(met: list[Met]) -> list[int]:
    return [each.id for each in met]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(EDGES, st.integers(1, 6))
def test_neighbours_are_those_of_a_plain_search(twelve: Database, edges: list[tuple[int, int]], depth: int) -> None:
    redraw(twelve, edges)
    walked = neighbours(twelve, 1, NOW, depth, 50)
    wanted = {each: steps for each, steps in steps_from(1, edges).items() if 0 < steps <= depth}
    assert {each.id: each.depth for each in walked.met} == wanted
    assert walked.is_whole
    depths = {1: 0} | {each.id: each.depth for each in walked.met}
    assert all(depths[each.parent] == each.depth - 1 for each in walked.met)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(EDGES, st.integers(1, 6))
def test_a_path_is_as_short_as_that_of_a_plain_search(
    twelve: Database, edges: list[tuple[int, int]], depth: int
) -> None:
    redraw(twelve, edges)
    walked = path(twelve, 1, 2, NOW, depth)
    steps = steps_from(1, edges).get(2)
    assert walked.is_whole
    assert len(walked.met) == (steps if steps is not None and steps <= depth else 0)
    for before, each in itertools.pairwise([1, *_ids(walked.met)]):
        assert (before, each) in edges or (each, before) in edges


def test_a_circle_ends() -> None:
    with drawn(3, [(1, 2), (2, 3), (3, 1)]) as connection:
        assert sorted(_ids(neighbours(connection, 1, NOW, 6, 20).met)) == [2, 3]


def test_nothing_is_deeper_than_six_steps_nor_more_than_a_hundred() -> None:
    chain = [(each, each + 1) for each in range(1, 20)]
    with drawn(20, chain) as connection:
        assert len(neighbours(connection, 1, NOW, 1_000_000, 20).met) == DEPTH_MAX
        assert len(path(connection, 1, 7, NOW, 1_000_000).met) == DEPTH_MAX
        assert not path(connection, 1, 8, NOW, 1_000_000).met
        assert len(neighbours(connection, 1, NOW, -5, 20).met) == 1
    with drawn(500, [(1, each) for each in range(2, 501)]) as connection:
        walked = neighbours(connection, 1, NOW, 2, 1_000_000)
        assert len(walked.met) == LIMIT_MAX
        assert not walked.is_whole


def test_what_is_left_out_is_told() -> None:
    with drawn(5, [(1, each) for each in range(2, 6)]) as connection:
        assert neighbours(connection, 1, NOW, 1, 4).is_whole
        assert not neighbours(connection, 1, NOW, 1, 3).is_whole
        for number in range(8):
            relate(connection, [(1, 2)], f"KIND_{number}")
        assert not neighbours(connection, 1, NOW, 1, 4).is_whole  # more relations than were followed


def test_the_most_mentioned_stand_first() -> None:
    with drawn(40, [(1, each) for each in range(2, 41)]) as connection:
        connection.execute("UPDATE relations SET mention_count = 9 WHERE dst = 33")
        connection.execute("UPDATE entities SET mention_count = 9 WHERE id = 33")
        assert _ids(neighbours(connection, 1, NOW, 1, 3).met)[0] == 33


def test_a_walk_follows_one_direction_and_one_relation_where_they_are_asked_for() -> None:
    with drawn(4, [(1, 2), (3, 1)]) as connection:
        relate(connection, [(1, 4)], "OWNS")
        assert sorted(_ids(neighbours(connection, 1, Along(10, outward=True, inward=False), 1, 20).met)) == [2, 4]
        assert _ids(neighbours(connection, 1, Along(10, outward=False), 1, 20).met) == [3]
        assert _ids(neighbours(connection, 1, Along(10, type="OWNS"), 1, 20).met) == [4]
        assert _ids(path(connection, 3, 2, Along(10, inward=False), 6).met) == [1, 2]
        assert not path(connection, 2, 3, Along(10, inward=False), 6).met


def test_what_has_ended_is_walked_at_its_time_and_in_its_history_alone() -> None:
    with drawn(3, []) as connection:
        relate(connection, [(1, 2)], "USES", 2, 5)
        relate(connection, [(1, 3)], "USES", 5)
        for at, wanted in ((1, []), (2, [2]), (4, [2]), (5, [3]), (9, [3])):
            assert _ids(neighbours(connection, 1, Along(at), 1, 20).met) == wanted
        assert sorted(_ids(neighbours(connection, 1, Along(9, history=True), 1, 20).met)) == [2, 3]
        assert not path(connection, 1, 2, Along(9), 6).met
        assert _ids(path(connection, 1, 2, Along(4), 6).met) == [2]


def _star(more: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Entity 1 is a hub of many more than a walk follows, the last of which are mentioned least."""
    return [(1, each) for each in range(2, 4 * FAN)] + more


def test_a_way_through_a_hub_is_found() -> None:
    last = 4 * FAN - 1
    far = [(last, last + 1), (last + 1, last + 2)]
    with drawn(last + 2, _star(far)) as connection:
        connection.execute("UPDATE relations SET mention_count = 5 WHERE dst < ?", (last,))
        assert _ids(path(connection, 2, last, NOW, 2).met) == [1, last]
        assert _ids(path(connection, 2, last + 1, NOW, 3).met) == [1, last, last + 1]
        assert _ids(path(connection, last + 1, 2, NOW, 3).met) == [last, 1, 2]
        assert _ids(path(connection, 1, last + 2, NOW, 4).met) == [last, last + 1, last + 2]


def test_where_a_hub_may_hide_a_way_no_way_is_not_said_to_be_the_whole_answer() -> None:
    count = 4 * FAN
    with drawn(count + 1, _star([])) as connection:
        assert not path(connection, 2, count + 1, NOW, 6).is_whole


def test_a_walk_that_nobody_wants_any_more_ends_with_a_remedy() -> None:
    def walks(connection: Database) -> None:
        for _ in range(200):
            neighbours(connection, 1, NOW, 6, 100)

    with drawn(4 * FAN, _star([])) as connection:
        with pytest.raises(RequestInvalid) as refused, interruptible(connection, lambda: False):
            walks(connection)
        assert "maxDepth" in refused.value.hint
        assert neighbours(connection, 1, NOW, 1, 5).met  # the next one is not interrupted
