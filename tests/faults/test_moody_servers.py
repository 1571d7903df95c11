"""Model servers as bad as they come, over real HTTP and through the real client libraries: nothing is lost or skipped.

Three of ten requests fail, each in another way: statuses, hang-ups before and in the middle of an answer, stalls, half
answers, prose, wrong forms, other languages, repetitions. The clock that the waits are measured by is turned by hand.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from model_server import KINDS, Kind, Reply, needs_library, running, said
from workbench import DAY_MS, Workbench, nobody

FAILING = 0.3
BUSY = (408, 409, 425, 429, 500, 502, 503, 529, 401, 404)
HANG_UPS = ("drop", "half", "stall")
POOR = ("", "I cannot do that.", '{"summary": "half of an ans', '{"text": "x"}', said(" "), said("of the call " * 12),
        said("期限切れのトークンは拒否されるようになりました"), "cut")  # fmt: skip
POOR_MAX = 2
"""Of one event: three refusals of a model skip it, as they should."""


STALLS_MAX = 4
"""Each takes the half second that an answer is waited for."""


class Moody:
    """What the server says to a request."""

    def __init__(self, kind: Kind, seed: int) -> None:
        self._kind = kind
        self._random = random.Random(seed)
        self._poor: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.is_gone = False

    def __call__(self, request: dict[str, Any]) -> Reply | str:
        if self.is_gone:
            return "drop"
        commands = re.findall(r"^command: (call [0-9]+)$", str(request["messages"][-1]["content"]), re.MULTILINE)
        assert commands, "each request tells of some event"
        if self._random.random() < FAILING and (failure := self._failure(commands)) is not None:
            return failure
        texts = [f"Ran `{command}`." for command in commands]
        if len(texts) == 1:
            return self._kind.reply(said(texts[0]))
        listed = [{"event": number, "summary": text} for number, text in enumerate(texts, 1)]
        return self._kind.reply(json.dumps({"summaries": listed}))

    def _failure(self, commands: list[str]) -> Reply | str | None:
        choice = self._random.choice((*BUSY, *HANG_UPS, *POOR, *POOR))
        is_answer = choice in POOR
        if is_answer and any(self._poor[each] >= POOR_MAX for each in commands):
            return None
        if choice == "stall" and self.failures["stall"] == STALLS_MAX:
            choice = "drop"
        self.failures[str(choice)] += 1
        if isinstance(choice, int):
            headers = {"retry-after": "7"} if choice == 429 else {}
            return choice, headers, {"error": {"type": "e", "message": "no"}}
        if not is_answer:
            return choice
        self._poor.update(commands)
        return self._kind.reply(said("Ran"), self._kind.cut) if choice == "cut" else self._kind.reply(choice)


async def drain_whole(bench: Workbench) -> None:
    """Let time pass and drain, until nothing is raw."""
    for _ in range(1_500):
        await bench.drain()
        if bench.rows("SELECT 1 FROM events WHERE status = 'raw' LIMIT 1") == []:
            return
        bench.clock.forward(700)
    raise AssertionError(f"still raw: {bench.rows('SELECT status, count(*) FROM events GROUP BY 1')}")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count"), [*zip(KINDS, (200, 200, 2_000), strict=True)], ids=str)
async def test_events_drain_through_every_mood_of_a_real_server_each_told_once(
    tmp_path: Path, kind: Kind, count: int
) -> None:
    needs_library(kind)
    async with running() as server, Workbench(tmp_path, values={"memory.fallbackMs": 10_000 * DAY_MS}) as bench:
        moody = Moody(kind, 7)
        server.choose = moody
        bench.backend = kind.backend(server.url, 0.5)  # type: ignore[assignment]
        bench.put_together()
        for start in range(0, count, 200):
            await bench.tell(*(f"call {number}" for number in range(start, start + 200)), session=f"s{start}")
        await drain_whole(bench)
        assert bench.rows("SELECT status, count(*) FROM events GROUP BY 1") == [("summarized", count)]
        assert bench.rows("SELECT count(*), count(DISTINCT event_id) FROM summaries") == [(count, count)]
        told = "SELECT count(*) FROM summaries s JOIN events e ON e.id = s.event_id WHERE s.text <> 'Ran `' ||"
        assert bench.rows(f"{told} json_extract(e.payload_json, '$.tool_input.command') || '`.'") == [(0,)]
        assert len(moody.failures) >= (20 if count > 1_000 else 5), moody.failures


async def test_an_hour_without_the_server_skips_nothing_and_a_hundred_restarts_change_nothing(tmp_path: Path) -> None:
    kind = KINDS[-1]
    async with running() as server, Workbench(tmp_path, values={"memory.fallbackMs": DAY_MS}) as bench:
        moody = Moody(kind, 3)
        server.choose = moody
        moody.is_gone = True
        bench.backend = kind.backend(server.url, 0.5)  # type: ignore[assignment]
        bench.put_together()
        await bench.tell(*(f"call {number}" for number in range(100)))
        for _ in range(120):
            await bench.drain()
            bench.clock.forward(30)
        assert bench.rows("SELECT DISTINCT status, attempts FROM events") == [("raw", 0)]
        assert len(server.requests) < 20, "it was left alone for longer and longer"
        moody.is_gone = False
        for _ in range(100):
            await bench.drain(batches=1)
            bench.clock.forward(60)
            bench.put_together()
        bench.clock.forward(900)
        await bench.consolidator.drain(None, nobody)
        await drain_whole(bench)
        assert bench.rows("SELECT status, count(*) FROM events GROUP BY 1") == [("summarized", 100)]
        assert bench.rows("SELECT count(*), count(DISTINCT event_id) FROM summaries") == [(100, 100)]
