"""Keeping what somebody wants kept: checked, redacted, logged, findable at once, and told what it resembles.

One fact is written at a time, so that two clients who say the same at once do not store it twice.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec

from siftd.capture.intake import Intake
from siftd.clock import Clock
from siftd.daemon.fact_checks import check, check_says_something, cleaned, cleaned_tags
from siftd.daemon.group_commit import Committer
from siftd.daemon.intents import Intents
from siftd.daemon.store_access import StoreAccess
from siftd.embed.embedder import Embedder
from siftd.filters import Filters
from siftd.search import facts as fact_search
from siftd.store import fact_candidates, facts
from siftd.store.access import Database
from siftd.store.fact_scope import FactScope
from siftd.wire.requests import Remember, RememberAnswer
from siftd.workspace.identity import path_from_text
from siftd.workspace.paths import GLOBAL, WorkspacePaths

SIMILAR_COSINE = 0.6
"""From here on two facts are worth comparing: the built-in embedder gives a reworded sentence 0.65 to 1."""
SIMILAR_MAX = 5


class FactWrites:
    """Takes facts in for one workspace."""

    def __init__(
        self,
        *,
        store: StoreAccess,
        committer: Committer,
        intents: Intents,
        intake: Intake,
        embedder: Embedder,
        embed: Callable[[], Awaitable[None]],
        paths: WorkspacePaths,
        clock: Clock,
    ) -> None:
        """`embed` gives facts without a vector theirs."""
        self._store = store
        self._committer = committer
        self._intents = intents
        self._intake = intake
        self._embedder = embedder
        self.embed = embed
        self._paths = paths
        self._clock = clock
        self.turn = anyio.Lock()
        """Held by whoever compares and then keeps."""

    async def remember(self, request: Remember, *, supersedes: int | None = None) -> RememberAnswer:
        """Keep a fact, in the place of another one if so, and return the fields of the answer.

        Raises RequestInvalid for what cannot be one.
        """
        check(request)
        if request.root is not None:
            fields = await asyncio.to_thread(self.redacted, request.root, [request.text, *request.tags])
            request = msgspec.structs.replace(request, text=fields[0], tags=fields[1:])
        now_ms = self._clock.now_ms()
        payload = payload_of(request, is_global=self._paths.key == GLOBAL)
        if supersedes is not None:
            payload["supersedes"] = supersedes
        intent = self._intake.admission.admit_intent(
            "remember", payload, ts=now_ms, session_id=request.session_id or ""
        )
        text = str(msgspec.json.decode(intent.payload_json)["text"])
        check_says_something(text)
        async with self.turn:
            await self._committer.catch_up()
            label = msgspec.json.decode(intent.payload_json).get("label")
            known, similar = await self._store.read(lambda c: self._compare(c, text, label, now_ms))
            if known is not None:
                if request.typed:  # a person says it too: what waits for one need not wait any longer
                    pin = {"pin": True} if request.pin else {}
                    await self._intents.keep("update", {"id": known, "saidBy": "person", "waits": False, **pin})
                return {**_answer(known, similar), "duplicate": True}
            fact_id = await self._intents.keep_admitted(intent)
            await self.embed()
        answer = _answer(fact_id, [each for each in similar if each != supersedes])
        return {**answer, "waits": True} if payload["waits"] else answer

    async def catch_up(self) -> None:
        """Wait until the database has what is in the log: what is compared next is all that was kept."""
        await self._committer.catch_up()

    def redacted(self, root: str, texts: list[str]) -> list[str]:
        """Return texts by the rules of this workspace and the values of another folder's `.env`-like files."""
        return [self._intake.redactor_for(path_from_text(root)).text(each) for each in texts]

    def _compare(self, connection: Database, text: str, label: str | None, now_ms: int) -> tuple[int | None, list[int]]:
        """Return (the live memory that says exactly this, those that say nearly this)."""
        known = facts.find_repeat(connection, text, label, now_ms)
        near = self.near(connection, text, now_ms)
        similar = [each for each, cosine in near if cosine >= SIMILAR_COSINE and each != known]
        return known, similar[:SIMILAR_MAX]

    def near(self, connection: Database, text: str, now_ms: int) -> fact_search.Ranking:
        """Return the live memories nearest to a text, with their cosines; none while they cannot be compared."""
        scope = FactScope.of(Filters(), now_ms)
        assert scope is not None
        if not fact_candidates.has_vectors(connection):
            return []
        embedder = self._embedder
        try:
            vector = embedder.embed([text])[0]
        except Exception:  # noqa: BLE001 - an embedder may fail in any way; `info` tells, and the fact is kept
            return []
        return fact_search.FactVectors().nearest(connection, scope, embedder.name, vector)


def payload_of(request: Remember, *, is_global: bool = False) -> dict[str, Any]:
    """Return the payload of the record that keeps a fact.

    `typed` is `mem`'s word for it. Any process of the user may say the same over the socket, and could as well write
    the database: this keeps apart a person from an agent, a script and a test that go the ordinary ways, no more.
    """
    fields: dict[str, Any] = {
        "uid": secrets.token_hex(16),
        "category": request.type,
        "text": cleaned(request.text),
        "tags": cleaned_tags(request.tags),
        "importance": request.importance,
        "confidence": request.confidence,
        "from": request.valid_from,
        "until": request.valid_until,
        "pin": request.pin,
        "source": request.source,
        "label": request.label,
        "saidBy": "person" if request.typed else "agent",
        "waits": (request.pin or is_global) and not request.typed,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _answer(fact_id: int, similar: list[int]) -> RememberAnswer:
    return {"id": f"m{fact_id}", "memoryId": fact_id, "similar": [f"m{each}" for each in similar]}
