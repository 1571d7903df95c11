"""The snapshot of a workspace's codebase: what the store adds to it, keeping it redacted, the memories that it makes.

Whoever builds one has read the work tree; here it meets the store. Each statement of it is a fact of a topic of its
own, with the source `knowledge`: said again it changes nothing, said otherwise it takes the place of the one before,
and of a module that is gone it ends. Where a person has had a word on a topic, no snapshot says another. What was
forgotten is not said again.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from siftd.capture.admission import Admission
from siftd.clock import Clock
from siftd.consolidate.deeds import place_of
from siftd.consolidate.drain import Drainer
from siftd.daemon.fact_checks import cleaned, says_something
from siftd.daemon.fact_writes import FactWrites
from siftd.daemon.intents import Intents
from siftd.daemon.store_access import StoreAccess
from siftd.errors import KnowledgeUnreadable
from siftd.knowledge import file
from siftd.knowledge.changing import renewed
from siftd.knowledge.format import from_plain, plain
from siftd.knowledge.model import Prose, Snapshot
from siftd.knowledge.statements import Statement, is_harmless_claim, statements_of
from siftd.store import deeds, exchange
from siftd.store import knowledge as stored
from siftd.store.access import Database
from siftd.store.knowledge import SOURCE, Stated
from siftd.summarise import knowledge_prose
from siftd.wire.requests import KeepKnowledgeAnswer, KnowledgeAnswer, KnowledgeSeenAnswer
from siftd.workspace.paths import WorkspacePaths

SESSIONS_MAX = 80
"""Sessions whose changes of files are counted."""
STATEMENTS_MAX = 200
_SAID = re.compile(r"`([^`]{1,200})`$")
_CONFIDENCE = 0.8
"""A file says it; that it is so was not seen."""


@dataclass
class _Done:
    """What became of statements."""

    added: int = 0
    replaced: int = 0
    ended: int = 0


class KnowledgeKeeper:
    """Keeps the snapshot of one workspace. One at a time."""

    def __init__(
        self,
        *,
        paths: WorkspacePaths,
        root: str,
        store: StoreAccess,
        writes: FactWrites,
        intents: Intents,
        admission: Admission,
        clock: Clock,
        find_drainer: Callable[[], Drainer],
        model_name: str,
    ) -> None:
        self._paths = paths
        self._root = root
        self._store = store
        self._writes = writes
        self._intents = intents
        self._admission = admission
        self._clock = clock
        self._find_drainer = find_drainer
        self._model_name = model_name

    async def read(self) -> KnowledgeAnswer:
        """Return the snapshot that there is. Raises KnowledgeUnreadable for a file that is none."""
        found = await asyncio.to_thread(file.find, self._paths.knowledge)
        return {"snapshot": None if found is None else plain(found), "path": self._paths.knowledge}

    async def seen(self, root: str) -> KnowledgeSeenAnswer:
        """Return what the store has seen of the codebase."""
        now_ms = self._clock.now_ms()
        return await self._store.read(lambda c: _seen(c, now_ms, (root, self._root)))

    async def keep(self, snapshot: dict[str, Any], *, prose: bool = False) -> KeepKnowledgeAnswer:
        """Keep a snapshot, and say its statements; with `prose` of the configured model, where there is one.

        Raises KnowledgeUnreadable for what is none, RequestInvalid for one that is too large, LogError when nothing can
        be kept.
        """
        taken = msgspec.structs.replace(from_plain(snapshot), prose=None)
        clean = await asyncio.to_thread(renewed, taken, self._admission.scrub_text)
        if prose:
            clean = msgspec.structs.replace(clean, prose=await self._prose(clean))
        async with self._writes.turn:
            await self._writes.catch_up()
            try:
                changed = await asyncio.to_thread(file.put, self._paths.knowledge, clean)
            except OSError as error:
                raise KnowledgeUnreadable(
                    f"the snapshot cannot be written: {error.strerror}", hint="see the disk"
                ) from error
            done = await self._say(clean)
        await self._writes.embed()
        return {
            "path": self._paths.knowledge,
            "changed": changed,
            "snapshot": plain(clean),
            "added": done.added,
            "replaced": done.replaced,
            "ended": done.ended,
        }

    async def _prose(self, snapshot: Snapshot) -> Prose | None:
        """Return what a model says of a snapshot; what it has said of the very same already is said again."""
        before = await asyncio.to_thread(file.find_readable, self._paths.knowledge)
        if before is not None and before.prose and msgspec.structs.replace(before, prose=None) == snapshot:
            return before.prose
        stated = [each.text for each in statements_of(snapshot)]
        drainer = self._find_drainer()
        answer = await drainer.ask_model(knowledge_prose.prompt_for(stated))
        text = "" if answer is None else knowledge_prose.read_prose(answer, stated)
        text = self._admission.scrub_text(text)
        if not is_harmless_claim(text):
            return None
        return Prose(text=text, model=self._model_name, evidence=snapshot.overview.evidence)

    async def _say(self, snapshot: Snapshot) -> _Done:
        now_ms = self._clock.now_ms()
        statements = statements_of(snapshot)[:STATEMENTS_MAX]
        standing, persons = await self._store.read(
            lambda c: (stored.list_stated(c, now_ms), stored.topics_of_persons(c))
        )
        by_topic = {each.topic: each for each in standing}
        said = {each.topic for each in statements}
        done = _Done()
        for each in statements:
            if each.topic in persons:
                continue
            before = by_topic.get(each.topic)
            if before is None and each.was not in said:
                before = by_topic.pop(each.was, None)
            await self._state(each, before, done)
        for topic, gone in by_topic.items():
            if topic not in said and topic not in persons:
                await self._verdict(gone.fact, "contradict", "it is not in the codebase any more")
                done.ended += 1
        return done

    async def _state(self, statement: Statement, before: Stated | None, done: _Done) -> None:
        text = self._admission.scrub_text(cleaned(statement.text))
        if not says_something(text) or (before is not None and before.text == text):
            return
        uid = self._admission.fact_uid("", statement.topic, text)
        is_forgotten, known = await self._store.read(
            lambda c: (exchange.is_forgotten_fact(c, uid), stored.find_by_uid(c, uid))
        )
        if is_forgotten:
            return
        if known is None:
            fact = await self._remember(statement, text, uid, before)
        elif known[1] == "archived":  # nobody had used it: a snapshot is no use
            return
        else:  # what was so before is so again
            fact = known[0]
            await self._verdict(fact, "confirm", "it is so again")
        if before is None:
            done.added += 1
            return
        done.replaced += 1
        await self._verdict(before.fact, "supersede", f"newer of {statement.topic}", by=fact)

    async def _remember(self, statement: Statement, text: str, uid: str, before: Stated | None) -> int:
        fields: dict[str, Any] = {
            "uid": uid,
            "category": statement.category,
            "text": text,
            "importance": statement.importance,
            "confidence": _CONFIDENCE,
            "from": self._clock.now_ms(),
            "origin": "learnt",
            "scope": "project",
            "topic": statement.topic,
            "source": SOURCE,
            "saidBy": "output",
            "waits": False,
        }
        if before is not None:
            fields["supersedes"] = before.fact
        return await self._intents.keep("remember", fields)

    async def _verdict(self, fact: int, what: str, why: str, *, by: int | None = None) -> None:
        fields: dict[str, Any] = {"fact": fact, "what": what, "who": "rule", "why": why}
        if by is not None:
            fields["by"] = by
        await self._intents.keep("verdict", fields)


def _seen(connection: Database, now_ms: int, roots: tuple[str, str]) -> KnowledgeSeenAnswer:
    commands: list[dict[str, Any]] = []
    for each in stored.list_learnt_commands(connection, now_ms):
        _, name, where = (*each.topic.split(":", 2), "")[:3]
        found = _SAID.search(each.text)
        if found is not None and "." not in name:  # a variant is not how it is done as a rule
            evidence = [*(f"e{event}" for event in each.events), f"m{each.fact}"]
            commands.append({"kind": name, "command": found[1], "where": where, "evidence": evidence})
    edits: Counter[str] = Counter()
    for (_, cwd), steps in deeds.latest_edits(connection, SESSIONS_MAX).items():
        tops = (place_of(cwd, roots[1])[0], *roots)
        edits.update(path for step in steps if step.path and (path := _below(step.path, tops)))
    return {"commands": commands, "edits": dict(sorted(edits.items()))}


def _below(path: str, tops: tuple[str, ...]) -> str:
    """Return a path as seen from the first of these folders that it is in; "" for one elsewhere."""
    if not path.startswith("/"):
        return "" if path.startswith(("~", "..")) else path.removeprefix("./")
    return next((path[len(top) + 1 :] for top in tops if top and path.startswith(f"{top}/")), "")
