"""Requests about memories that are kept: changing, replacing, linking, looking at them as a whole, conversations.

Changes are checked here, kept as a record, and applied by it (`siftd.store.intents`). One is made at a time, with
`FactWrites`, so that two clients cannot close a circle of superseding between them.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from siftd import ids, ranking_config
from siftd.capture.admission import NAME_CHARS_MAX
from siftd.clock import Clock
from siftd.config import MS_PER_DAY
from siftd.daemon.fact_checks import check, check_label, check_says_something, cleaned, cleaned_tags
from siftd.daemon.fact_writes import FactWrites
from siftd.daemon.group_commit import Committer
from siftd.daemon.handlers.answering import answers
from siftd.daemon.intents import Intents
from siftd.daemon.saved_brief import drop_briefs_that_quote
from siftd.daemon.searching import SearchAccess
from siftd.daemon.store_access import StoreAccess
from siftd.errors import NothingFound, RequestInvalid
from siftd.redact.redactor import Redactor
from siftd.store import conversations, fact_candidates, fact_changes, fact_views, facts
from siftd.store.access import Database
from siftd.store.fact_changes import RELATIONS
from siftd.wire import cursors, requests
from siftd.workspace.paths import GLOBAL, WorkspacePaths

LIMIT_MAX = 500
TITLE_CHARS_MAX = 200
_INHERITED = ("type", "tags", "importance", "confidence")


class FactRequests:
    """Answers them for one workspace."""

    def __init__(
        self,
        *,
        writes: FactWrites,
        store: StoreAccess,
        committer: Committer,
        searching: SearchAccess,
        intents: Intents,
        redactor: Callable[[], Redactor],
        paths: WorkspacePaths,
        clock: Clock,
    ) -> None:
        self._writes = writes
        self._store = store
        self._committer = committer
        self._searching = searching
        self._intents = intents
        self._redactor = redactor
        self._paths = paths
        self._clock = clock

    @answers(requests.Remember)
    async def remember(self, request: requests.Remember) -> requests.RememberAnswer:
        """Keep a memory."""
        return await self._writes.remember(request)

    @answers(requests.Supersede)
    async def supersede(self, request: requests.Supersede) -> requests.RememberAnswer:
        """Keep a memory in the place of another one, which stays as history; what is not said is inherited."""
        old_id = _number(request.id)
        old = await self._get(old_id)
        newest = await self._store.read(lambda c: fact_changes.find_newest(c, old_id))
        if newest != old_id:
            raise RequestInvalid(f"m{old_id} is superseded already", hint=f"supersede m{newest}")
        given = {name: value for name in _INHERITED if (value := getattr(request, name)) is not None}
        inherited = {name: value for name, value in old.items() if name in _INHERITED and value is not None}
        said: dict[str, Any] = inherited | given
        remember = requests.Remember(
            text=request.text,
            valid_from=request.valid_from,
            valid_until=request.valid_until,
            pin=old["pinned"] if request.pin is None else request.pin,
            label=old["project"] if request.label is None else request.label,
            session_id=request.session_id,
            source=request.source,
            typed=request.typed,
            root=request.root,
            **said,
        )
        answer = await self._writes.remember(remember, supersedes=old_id)
        drop_briefs_that_quote(self._paths)
        return answer

    @answers(requests.Update)
    async def update(self, request: requests.Update) -> requests.UpdateAnswer:
        """Change fields of a memory."""
        fact_id = _number(request.id)
        old = await self._get(fact_id)
        fields = msgspec.to_builtins(request)
        changes = {name: fields[name] for name in _CHANGEABLE if fields.get(name) is not None}
        if not changes:
            raise RequestInvalid("nothing is to be changed", hint="give text, type, tags, importance, ...")
        check(_as_if_new(old, changes))
        if "text" in changes:
            changes["text"] = cleaned(changes["text"])
            check_says_something(self._redactor().text(changes["text"]))
        if "tags" in changes:
            changes["tags"] = cleaned_tags(changes["tags"])
        if request.root is not None:
            given = [changes[name] for name in ("text",) if name in changes] + changes.get("tags", [])
            given = await asyncio.to_thread(self._writes.redacted, request.root, given)
            changes |= {"text": given.pop(0)} if "text" in changes else {}
            changes |= {"tags": given} if "tags" in changes else {}
        standing = standing_of(old | {"isGlobal": self._paths.key == GLOBAL}, changes, is_typed=request.typed)
        async with self._writes.turn:
            recorded = {"category" if name == "type" else name: value for name, value in changes.items()}
            await self._intents.keep("update", {"id": fact_id, **recorded, **standing})
            await self._writes.embed()
        drop_briefs_that_quote(self._paths)
        answer: requests.UpdateAnswer = {"id": f"m{fact_id}", "changed": sorted(changes)}
        return {**answer, "waits": True} if standing.get("waits", old["waits"]) else answer

    @answers(requests.Accept)
    async def accept(self, request: requests.Accept) -> requests.AcceptAnswer:
        """Let a memory that waits stand, as a person says."""
        fact_id = _number(request.id)
        if not (await self._get(fact_id))["waits"]:
            raise RequestInvalid(f"m{fact_id} waits for nothing", hint="`mem pins` lists what does")
        async with self._writes.turn:
            await self._intents.keep("update", {"id": fact_id, "waits": False})
        drop_briefs_that_quote(self._paths)
        return {"id": f"m{fact_id}"}

    @answers(requests.Link)
    async def link(self, request: requests.Link) -> requests.LinkAnswer:
        """Link two memories. Refuses a memory with itself, and a circle of superseding."""
        from_id, to_id = _number(request.from_id), _number(request.to_id)
        if request.relation not in RELATIONS:
            raise RequestInvalid("there is no such relation", hint=f"one of {', '.join(RELATIONS)}")
        if from_id == to_id:
            raise RequestInvalid("a memory is not linked to itself", hint="give two ids")
        for each in (from_id, to_id):
            await self._get(each)
        async with self._writes.turn:
            await self._committer.catch_up()
            if request.relation == "supersedes":
                is_circle = await self._store.read(lambda c: fact_changes.is_older(c, from_id, to_id))
                if is_circle:
                    raise RequestInvalid(f"m{to_id} supersedes m{from_id} already", hint="a circle would hide both")
            await self._intents.keep("link", {"from": from_id, "to": to_id, "relation": request.relation})
        return {"from": f"m{from_id}", "to": f"m{to_id}", "relation": request.relation}

    @answers(requests.Memories)
    async def list_memories(self, request: requests.Memories) -> requests.MemoriesAnswer:
        limit = _bounded(request.limit)
        now_ms = self._clock.now_ms()
        if request.ids is not None:
            these = await self._these(request.ids[:LIMIT_MAX], now_ms, is_read=request.read)
            return {"memories": these, "nextCursor": None}
        behind = cursors.decode(request.cursor, int, int)
        rows = await self._store.read(
            lambda c: fact_views.list_facts(
                c,
                now_ms=now_ms,
                kind=request.type,
                tag=request.tag,
                since=request.since,
                until=request.until,
                as_of=request.as_of,
                pinned=request.pinned,
                waiting=request.waiting,
                superseded=request.superseded,
                label=request.label,
                by_creation=request.by_creation,
                limit=limit + 1,
                behind=behind,
            )
        )
        shown, rest = cursors.page(
            rows, limit, lambda each: (each["ts"] if request.by_creation else each["updatedTs"], each["id"])
        )
        return {"memories": shown, "nextCursor": rest}

    async def _these(self, cited: list[str], now_ms: int, *, is_read: bool) -> list[requests.ListedMemory]:
        numbers = [_number(each) for each in cited]
        if is_read:
            await self._store.write(lambda c: fact_candidates.note_read(c, numbers, now_ms))
        return await self._store.read(lambda c: fact_views.list_these(c, numbers))

    @answers(requests.Related)
    async def related(self, request: requests.Related) -> requests.RelatedAnswer:
        fact_id = _number(request.id)
        await self._get(fact_id)
        return {"related": await self._store.read(lambda c: fact_views.list_related(c, fact_id))}

    @answers(requests.Similar)
    async def similar(self, request: requests.Similar) -> requests.SimilarAnswer:
        fact_id = _number(request.id)
        text = str((await self._get(fact_id))["text"])
        limit = _bounded(request.limit)
        return {"similar": await self._store.read(lambda c: self._similar(c, fact_id, text, limit))}

    @answers(requests.MemoryHealth)
    async def health(self, request: requests.MemoryHealth) -> requests.MemoryHealthAnswer:
        now_ms = self._clock.now_ms()

        def read(connection: Database) -> requests.MemoryHealthAnswer:
            return {
                "health": fact_views.health(connection, now_ms),
                "topics": fact_views.topics(connection, now_ms, request.label),
                "conflicts": fact_views.list_conflicts(connection, LIMIT_MAX, request.label),
            }

        return await self._store.read(read)

    @answers(requests.SetConfig)
    async def set_config(self, request: requests.SetConfig) -> requests.SetConfigAnswer:
        """Keep numbers for this project's searches, and tell all of them with where each comes from."""
        values = {
            name: None if value is None else ranking_config.checked(name, value)
            for name, value in request.values.items()
        }
        for name in values:
            ranking_config.checked(name, 1.0)  # a name to be unset, too
        check_label(request.label)
        if values:
            label = {} if request.label is None else {"label": request.label}
            await self._intents.keep("scoring", values | label)
        layers = await self._store.read(lambda c: self._searching.scoring_layers(c, request.label))
        given = {name: (whence, layer[name]) for whence, layer in reversed(layers.items()) for name in layer}
        return {"scoring": {name: {"value": value, "from": whence} for name, (whence, value) in given.items()}}

    @answers(requests.Converse)
    async def converse(self, request: requests.Converse) -> requests.ConverseAnswer:
        """Start a conversation, linked to the one that it follows up on or branches from."""
        check_label(request.label)
        if len(request.title) > TITLE_CHARS_MAX:
            raise RequestInvalid(f"a title has at most {TITLE_CHARS_MAX} characters")
        new_id = request.id or f"c-{secrets.token_hex(8)}"
        if not 0 < len(new_id) <= NAME_CHARS_MAX:
            raise RequestInvalid("an id has at most 256 characters")
        parents = [each for each in (request.follows_up_on, request.branches_from) if each]
        for parent in parents:
            is_known = partial(conversations.is_known, session_id=parent)
            if parent == new_id or not await self._store.read(is_known):
                raise RequestInvalid("there is no such conversation", hint="`mem conversations` lists them")
        relation = "follows_up_on" if request.follows_up_on else "branches_from" if parents else None
        given = {"id": new_id, "title": request.title, "parent": parents[0] if parents else None, "relation": relation}
        given |= {"label": request.label, "branchesFrom": parents[1] if len(parents) > 1 else None}
        payload = {name: value for name, value in given.items() if value is not None}
        await self._intents.keep("conversation", payload, session_id=new_id)
        return {"id": new_id}

    @answers(requests.Conversations)
    async def conversations(self, request: requests.Conversations) -> requests.ConversationsAnswer:
        limit = _bounded(request.limit)
        before = self._clock.now_ms() - (request.stale_days or 0) * MS_PER_DAY
        behind = cursors.decode(request.cursor, int, str)

        def read(connection: Database) -> list[requests.Conversation]:
            if request.id is not None:
                return conversations.tree(connection, request.id)
            if request.stale_days is not None:
                return conversations.stale(connection, before, limit)
            return conversations.threads(connection, limit + 1, request.label, behind)

        found = await self._store.read(read)
        if request.id is not None and not found:
            raise RequestInvalid("there is no such conversation", hint="ask without an id for a list of them")
        if request.id is not None or request.stale_days is not None:
            return {"conversations": found, "nextCursor": None}
        shown, rest = cursors.page(found, limit, lambda each: (max(each["lastTs"], each["rememberedTs"]), each["id"]))
        return {"conversations": shown, "nextCursor": rest}

    async def _get(self, fact_id: int) -> requests.Memory:
        fact = await self._store.read(lambda c: facts.find_fact(c, fact_id))
        if fact is None:
            raise NothingFound(f"there is no memory m{fact_id}", hint="`mem memories` lists them")
        return fact

    def _similar(self, connection: Database, fact_id: int, text: str, limit: int) -> list[requests.SimilarMemory]:
        near = self._writes.near(connection, text, self._clock.now_ms())
        rows = ((fact_candidates.find_hit(connection, each), cosine) for each, cosine in near if each != fact_id)
        similar: list[requests.SimilarMemory] = [
            {"id": f"m{row['id']}", "type": row["type"], "text": row["text"], "cosine": round(cosine, 4)}
            for row, cosine in rows
            if row is not None
        ]
        return similar[:limit]


_CHANGEABLE = ("text", "type", "tags", "importance", "confidence", "from", "until", "pin")


def standing_of(old: dict[str, Any], changes: dict[str, Any], *, is_typed: bool) -> dict[str, Any]:
    """Return what a change makes of whose words a memory is, and of whether it waits for a person.

    New words are those of who brings them. Words that no person typed do not stand in a person's place: a pin, and a
    memory for every project, waits with them again.
    """
    standing: dict[str, Any] = {}
    if "text" in changes:
        standing["saidBy"] = "person" if is_typed else "agent"
    is_pinned = changes.get("pin", old["pinned"])
    if not is_pinned and not old["isGlobal"]:
        standing["waits"] = False
    elif is_typed:
        standing["waits"] = False if changes.keys() & {"pin", "text"} else old["waits"]
    elif changes.keys() & {"pin", "text", "type"}:
        standing["waits"] = True
    return standing


def _number(text: str) -> int:
    """Return the number of a memory's id (m3 or 3). Raises RequestInvalid."""
    return ids.parse_number(text, ids.MEMORY)


def _as_if_new(old: requests.Memory, changes: dict[str, Any]) -> requests.Remember:
    """Return the memory as it would be, so that the same is refused as for a new one."""
    names = {"from": "valid_from", "until": "valid_until"}
    now: dict[str, Any] = {
        "text": old["text"],
        "type": old["type"],
        "tags": old["tags"],
        "importance": old["importance"],
        "confidence": old["confidence"],
        "valid_from": old["validFrom"],
        "valid_until": old["validTo"],
    }
    return requests.Remember(**now | {names.get(name, name): value for name, value in changes.items()})


def _bounded(limit: int) -> int:
    return max(1, min(limit, LIMIT_MAX))
