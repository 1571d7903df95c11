"""A disk that fails once: what was refused for it never comes alive, what was acknowledged stays as it was."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from daemons import Place, is_alive, wait_until
from failing_syncs import FailingSyncs

from siftd.errors import RequestRefused

pytestmark = pytest.mark.slow
CALM = ("--set", "memory.consolidator.tickMs=3600000")


def refused_by_the_disk(place: Place, syncs: FailingSyncs, kind: str, **fields: Any) -> None:
    syncs.fail_next()
    with pytest.raises(RequestRefused) as refused:
        place.ask(kind, **fields)
    assert refused.value.code == "log_broken"
    assert syncs.has_failed


def started_again(place: Place, *, rebuild: bool) -> None:
    """Kill the daemon, so that nothing is tidied up, and start it again, with the log alone if so."""
    place.kill()
    if rebuild:
        Path(place.paths.rebuild).touch()
    place.start(*CALM)


def everything(place: Place) -> list[Any]:
    tables = ("id, payload_json FROM events", "id, text FROM facts", "session_id, since FROM opt_outs")
    return [place.rows(f"SELECT {each} ORDER BY 1") for each in tables]


@pytest.mark.parametrize("follows", [False, True], ids=["nothing-follows", "more-follows"])
def test_what_a_failed_sync_refused_never_comes_alive(place: Place, tmp_path: Path, follows: bool) -> None:
    """Neither at the next start nor at a rebuild. The kernel has the refused lines in its cache and gives them to every
    reader: a forget that was refused would take an acknowledged event, a capture that was sent again would be two."""
    syncs = FailingSyncs(tmp_path)
    place.start(*CALM, env=syncs.env)
    event = place.capture(1, uid="first")["id"]
    memory = place.ask("remember", text="The queue is drained at midnight")["id"]
    told = {"sessionId": "by-socket", "tool": "Bash", "payload": {"tool_input": {"command": "make again"}}, "ts": 5}

    refused_by_the_disk(place, syncs, "forget", ids=[event], dryRun=False)
    refused_by_the_disk(place, syncs, "update", id=memory, text="The queue is drained at noon")
    refused_by_the_disk(place, syncs, "remember", text="The mirror is refreshed on Sundays")
    refused_by_the_disk(place, syncs, "capture", **told, uid="again")
    refused_by_the_disk(place, syncs, "pause")
    if follows:
        place.ask("capture", **told, uid="again")
        place.ask("remember", text="The mirror is refreshed on Sundays")
    before = everything(place)
    assert len(before[0]) == len(before[1]) == 1 + follows

    for rebuild in (False, True):
        started_again(place, rebuild=rebuild)
        assert everything(place) == before
    place.ask("capture", **told, uid="again")
    assert len(everything(place)[0]) == 2, "it is one event, however often it was sent"


def test_a_failed_sync_costs_neither_the_daemon_nor_what_comes_next(place: Place, tmp_path: Path) -> None:
    syncs = FailingSyncs(tmp_path)
    daemon = place.start(*CALM, env=syncs.env)
    kept = [place.capture(0)["eventId"]]
    for number in range(1, 4):
        refused_by_the_disk(place, syncs, "capture", sessionId="s", tool="Bash", payload={"prompt": "x"}, ts=number)
        kept.append(place.capture(number)["eventId"])
    assert is_alive(daemon.pid)
    started_again(place, rebuild=True)
    wait_until("every event is there", lambda: place.count_events() == len(kept))
    assert [row[0] for row in place.rows("SELECT id FROM events ORDER BY id")] == kept


def test_a_pause_that_was_refused_pauses_nothing_and_a_resume_that_was_refused_resumes_nothing(
    place: Place, tmp_path: Path
) -> None:
    """Else everything would be answered as kept and dropped, and nobody would be told."""
    syncs = FailingSyncs(tmp_path)
    place.start(*CALM, env=syncs.env)
    now = time.time_ns() // 1_000_000
    refused_by_the_disk(place, syncs, "pause")
    assert place.ask("info")["pausedSince"] is None
    assert place.capture(1, ts=now + 1_000)["eventId"] is not None
    assert place.ask("resume")["since"] is None
    place.ask("pause")
    refused_by_the_disk(place, syncs, "resume")
    assert place.ask("info")["pausedSince"] is not None
    assert place.capture(2, ts=now + 60_000)["eventId"] is None
    assert place.ask("resume")["since"] is not None
    assert place.capture(3, ts=now + 120_000)["eventId"] is not None
