"""Attached clients that offer a model of theirs: they wait here for what the consolidator wants asked.

An offer is a request that stays unanswered until there is a question, or for a while; the next one brings what the
model said. So a client that goes away is an offer that nobody takes, and no connection has to be remembered.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from siftd.errors import RequestInvalid
from siftd.wire.requests import Question, Sampling, SamplingAnswer

OFFER_SECONDS = 20.0
"""How long an offer waits: shorter than a client waits for an answer."""
OFFERS_MAX = 8


class Samplers:
    """The offers of one workspace's clients, while the configuration names `sampling`."""

    def __init__(self, *, is_wanted: bool) -> None:
        self._is_wanted = is_wanted
        self._offers: deque[tuple[asyncio.Future[Question | None], Callable[[], bool]]] = deque()
        self._asked: dict[int, asyncio.Future[str]] = {}
        self._last = 0
        self._is_closed = False

    def find(self) -> Callable[[str, str, int], Any] | None:
        """Return what asks a client's model; None while no client offers one."""
        return self._ask if any(is_there() for _, is_there in self._offers) else None

    async def offer(self, request: Sampling, is_there: Callable[[], bool]) -> SamplingAnswer:
        """Take what a model said, and wait for the next question. `is_there` tells whether the client still is."""
        answered = None if request.id is None else self._asked.get(request.id)
        if answered is not None and not answered.done():
            if request.said is None:
                answered.set_exception(ConnectionError("the client refused"))
            else:
                answered.set_result(request.said)
        if not self._is_wanted or self._is_closed:
            return {"wanted": self._is_wanted, "ask": None}
        if len(self._offers) >= OFFERS_MAX:
            raise RequestInvalid("enough clients offer a model already", hint="ask again later")
        waiting: asyncio.Future[Question | None] = asyncio.get_running_loop().create_future()
        offer = (waiting, is_there)
        self._offers.append(offer)
        try:
            ask = await asyncio.wait_for(waiting, OFFER_SECONDS)
        except TimeoutError:
            ask = None
        finally:
            if offer in self._offers:
                self._offers.remove(offer)
        return {"wanted": True, "ask": ask}  # while we end, too: the next daemon may want it

    def close(self) -> None:
        """Let the clients go that wait."""
        self._is_closed = True
        for waiting, _ in self._offers:
            if not waiting.done():
                waiting.set_result(None)

    async def _ask(self, rules: str, message: str, max_tokens: int) -> str:
        while self._offers:
            waiting, is_there = self._offers.popleft()
            if is_there() and not waiting.done():
                break
        else:
            raise ConnectionError("no client offers a model any more")
        self._last += 1
        number, answered = self._last, asyncio.get_running_loop().create_future()
        self._asked[number] = answered
        waiting.set_result({"id": number, "rules": rules, "message": message, "maxTokens": max_tokens})
        try:
            return str(await answered)
        finally:
            del self._asked[number]
