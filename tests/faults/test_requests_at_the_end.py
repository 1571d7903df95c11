"""A request that meets the end of its daemon gets no answer, which every client takes to the next one."""

from __future__ import annotations

import pytest
from daemons import Place, RawClient, is_alive, wait_until

from siftd.wire.frames import encode_json

pytestmark = pytest.mark.slow


def test_requests_that_meet_a_stop_are_answered_or_not_at_all(place: Place) -> None:
    """Never "internal": that would say that something is wrong with what was asked."""
    patches = {"siftd.daemon.server.IN_FLIGHT_SECONDS": 0.0}  # nobody waits for them, as when they take long
    daemon = place.start("--set", "memory.consolidator.tickMs=3600000", patches=patches)
    for number in range(20):
        place.capture(number)
    place.ask("drain")
    requests = [{"kind": "show", "id": "e1"}, {"kind": "info"}, {"kind": "timeline", "around": "s1"}, {"kind": "retry"}]
    with RawClient(place.paths) as first, RawClient(place.paths) as second:
        for client in (first, second):
            client.send(b"".join(map(encode_json, requests * 25)))
        place.ask("stop")
        answers = []
        for client in (first, second):
            while (answer := client.answer()) is not None:
                answers.append(answer)
    assert len(answers) < 200, "some have met the end"
    assert [answer for answer in answers if not answer["ok"]] == []
    wait_until("it has ended", lambda: not is_alive(daemon.pid))
