"""Keeping what somebody wants kept: checked, redacted, logged, findable at once, and told what it resembles.

One memory is written at a time, so that two clients who say the same at once do not store it twice.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec

from siftd.capture.admission import LAST_TS, NAME_CHARS_MAX
from siftd.capture.intake import Intake
from siftd.clock import Clock
from siftd.daemon.group_commit import Committer
from siftd.daemon.intents import Intents
from siftd.daemon.store_access import StoreAccess
from siftd.embed.embedder import Embedder
from siftd.errors import RequestInvalid
from siftd.redact.spans import PLACEHOLDER
from siftd.search import memories as memory_search
from siftd.store import memories
from siftd.store.access import Database
from siftd.store.memories import MemoryScope
from siftd.store.memory_changes import TAG_CHARS_MAX, TAGS_MAX, TEXT_CHARS_MAX, TYPES
from siftd.wire.requests import Filters, Remember
from siftd.workspace.identity import path_from_text
from siftd.workspace.paths import GLOBAL, WorkspacePaths

SIMILAR_COSINE = 0.6
"""From here on two memories are worth comparing: the built-in embedder gives a reworded sentence 0.65 to 1."""
SIMILAR_MAX = 5
_PLACEHOLDER = re.compile(PLACEHOLDER)


class MemoryWrites:
    """Takes memories in for one workspace."""

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
        """`embed` gives memories without a vector theirs."""
        self._store = store
        self._committer = committer
        self._intents = intents
        self._intake = intake
        self._embedder = embedder
        self.embed = embed
        self._paths = paths
        self._clock = clock
        self.turn = anyio.Lock()

    async def remember(self, request: Remember, *, supersedes: int | None = None) -> dict[str, Any]:
        """Keep a memory, in the place of another one if so, and return the fields of the answer.

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
                return _answer(known, similar) | {"duplicate": True}
            memory_id = await self._intents.keep_admitted(intent)
            await self.embed()
        answer = _answer(memory_id, [each for each in similar if each != supersedes])
        return answer | ({"waits": True} if payload["waits"] else {})

    def redacted(self, root: str, texts: list[str]) -> list[str]:
        """Return texts by the rules of this workspace and the values of another folder's `.env`-like files."""
        return [self._intake.redactor_for(path_from_text(root)).text(each) for each in texts]

    def _compare(self, connection: Database, text: str, label: str | None, now_ms: int) -> tuple[int | None, list[int]]:
        """Return (the live memory that says exactly this, those that say nearly this)."""
        known = memories.find_repeat(connection, text, label, now_ms)
        near = self.near(connection, text, now_ms)
        similar = [each for each, cosine in near if cosine >= SIMILAR_COSINE and each != known]
        return known, similar[:SIMILAR_MAX]

    def near(self, connection: Database, text: str, now_ms: int) -> memory_search.Leg:
        """Return the live memories nearest to a text, with their cosines; none while they cannot be compared."""
        scope = MemoryScope.of(Filters(), now_ms)
        assert scope is not None
        if not memories.has_vectors(connection):
            return []
        embedder = self._embedder
        try:
            vector = embedder.embed([text])[0]
        except Exception:  # noqa: BLE001 - an embedder may fail in any way; `info` tells, and the memory is kept
            return []
        return memory_search.MemoryVectors().nearest(connection, scope, embedder.name, vector)


def check_says_something(text: str) -> None:
    """Raise RequestInvalid for a redacted text in which nothing but placeholders is left."""
    if not re.search(r"\w", _PLACEHOLDER.sub("", text)):
        raise RequestInvalid("nothing but a secret is in the text", hint="say what it is for, without its value")


def cleaned(text: str) -> str:
    """Return a memory's text as it is kept."""
    return text.strip().replace("\x00", "\ufffd")


def cleaned_tags(tags: list[str]) -> list[str]:
    """Return tags as they are kept: each once."""
    return list(dict.fromkeys(tag.strip() for tag in tags))


def check(request: Remember) -> None:
    """Raise RequestInvalid, with the remedy, for what cannot be a memory."""
    if not request.text.strip():
        raise RequestInvalid("the text is empty", hint="say in a sentence what is to be remembered")
    if len(request.text) > TEXT_CHARS_MAX:
        raise RequestInvalid(
            f"the text has {len(request.text):,} characters, more than {TEXT_CHARS_MAX:,}",
            hint="keep the statement, and name the file that has the rest",
        )
    if request.type not in TYPES:
        raise RequestInvalid("there is no such type of memory", hint=f"one of {', '.join(TYPES)}")
    if not request.project:
        raise RequestInvalid(
            "memories for every project are not kept by a project's daemon",
            hint="`mem remember --global` asks the daemon that keeps them",
        )
    if len(request.tags) > TAGS_MAX or any(not 0 < len(tag.strip()) <= TAG_CHARS_MAX for tag in request.tags):
        raise RequestInvalid(f"a tag is empty or long, or there are more than {TAGS_MAX}", hint="use short words")
    if not 1 <= request.importance <= 5:
        raise RequestInvalid("importance is a whole number from 1 to 5")
    if request.confidence is not None and not 0 <= request.confidence <= 1:
        raise RequestInvalid("confidence is a number from 0 to 1")
    check_label(request.label)
    if len(request.session_id or "") > NAME_CHARS_MAX or len(request.source) > NAME_CHARS_MAX:
        raise RequestInvalid("a session id or source is longer than 256 characters")
    times = [moment for moment in (request.valid_from, request.valid_until) if moment is not None]
    if any(not 0 <= moment <= LAST_TS for moment in times):
        raise RequestInvalid("a moment is before 1970 or after 9999", hint="milliseconds since 1970 are wanted")
    if len(times) == 2 and times[0] >= times[1]:
        raise RequestInvalid("`until` is not later than `from`", hint="`until` is later than `from`")


def check_label(label: str | None) -> None:
    """Raise RequestInvalid for what cannot be a label."""
    if label is not None and (not label.strip() or len(label) > NAME_CHARS_MAX):
        raise RequestInvalid(f"a label is empty or longer than {NAME_CHARS_MAX} characters", hint="use a short name")


def payload_of(request: Remember, *, is_global: bool = False) -> dict[str, Any]:
    """Return the payload of the record that keeps a memory.

    `typed` is `mem`'s word for it. Any process of the user may say the same over the socket, and could as well write
    the database: this keeps apart a person from an agent, a script and a test that go the ordinary ways, no more.
    """
    fields: dict[str, Any] = {
        "uid": secrets.token_hex(16),
        "type": request.type,
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


def _answer(memory_id: int, similar: list[int]) -> dict[str, Any]:
    return {"id": f"m{memory_id}", "memoryId": memory_id, "similar": [f"m{each}" for each in similar]}
