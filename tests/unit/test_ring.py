"""What happened lately, by number."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from siftd.wire.ring import LENGTH, Ring


def test_whoever_has_seen_all_is_given_nothing_and_whoever_has_not_the_rest() -> None:
    ring = Ring()
    ring.add("captured", {"id": "e1"})
    second = ring.add("captured", {"id": "e2"})
    assert ring.since(0) is not None
    assert ring.since(1) == [second]
    assert ring.since(2) == []


def test_what_is_held_no_longer_is_missed_knowingly() -> None:
    ring = Ring()
    for number in range(LENGTH + 1):
        ring.add("captured", {"n": number})
    assert ring.since(0) is None
    assert len(ring.since(1) or []) == LENGTH
    assert ring.since(ring.last + 1) is None, "a number of somebody else"


def test_what_was_forgotten_is_held_by_nothing() -> None:
    ring = Ring()
    ring.add("captured", {"id": "e1"})
    ring.forget()
    forgotten = ring.add("forgotten", {"matched": 1})
    assert ring.since(1) == [forgotten]
    assert ring.since(0) is None


@given(st.lists(st.integers(0, 5)), st.integers(1, 8))
def test_two_rings_tell_the_same_as_far_as_they_reach(batches: list[int], length: int) -> None:
    one = Ring(length)
    other = Ring(length, one.epoch)
    for batch in batches:
        before = one.last
        for number in range(batch):
            one.add("captured", {"n": number})
        news = one.since(before)
        if news is not None:
            other.take(news)
        else:
            other.forget()
            other.last = one.last
    assert other.last == one.last
    assert other.since(other.last) == []
