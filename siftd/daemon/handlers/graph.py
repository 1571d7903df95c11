"""Requests about the graph: entities found, walked from, told with what says so; merged and parted by a person."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from siftd import ids
from siftd.clock import Clock
from siftd.daemon.group_commit import Committer
from siftd.daemon.handlers.answering import answers
from siftd.daemon.intents import Intents
from siftd.daemon.store_access import StoreAccess
from siftd.errors import NothingFound, RequestInvalid
from siftd.graph.model import relation_code
from siftd.search import entities, graph_answers
from siftd.search.graph_question import Asked
from siftd.store import facts, graph_merges, graph_names, graph_reading, graph_walk
from siftd.store.access import Database
from siftd.store.graph_walk import Along, Walked
from siftd.wire import requests

T = TypeVar("T")
WALK_SECONDS = 2.0
"""Of the processor, after which a walk ends: others wait for the same thread. Among a hundred thousand entities one
takes a hundredth of it, on a busy machine too."""
EVIDENCE_OF_A_RELATION = 3
LIMIT_MAX = 100
SHORTENED = "there is more: limit, maxDepth or relationType tell which part of it"
HUBS_ON_THE_WAY = "no way was found, but not every way through an entity with very many relations was tried"


class GraphRequests:
    """Answers them for one workspace."""

    def __init__(self, *, store: StoreAccess, committer: Committer, intents: Intents, clock: Clock) -> None:
        self._store = store
        self._committer = committer
        self._intents = intents
        self._clock = clock

    @answers(requests.SearchEntity)
    async def search(self, request: requests.SearchEntity) -> requests.SearchEntityAnswer:
        """Return entities for a query, best first; without one the hubs."""
        limit = max(1, min(request.limit, LIMIT_MAX))

        def read(connection: Database) -> list[requests.FoundEntity]:
            if not request.query.strip():
                hubs = graph_reading.list_entities(
                    connection, graph_reading.hubs(connection, entities.checked_type(request.entity_type), limit)
                )
                return [{**each, "why": "hub"} for each in hubs]
            found = dict(entities.find(connection, request.query, request.entity_type, limit))
            whole = graph_reading.list_entities(connection, list(found))
            return [{**each, "why": found[ids.parse_entity(each["id"]) or 0]} for each in whole]

        return {"entities": await self._read(read)}

    @answers(requests.TraverseGraph)
    async def traverse(self, request: requests.TraverseGraph) -> requests.TraverseGraphAnswer:
        """Walk from an entity: to its neighbours, to another one, to what the same items name."""
        if (request.action == "path") != (request.target_entity_id is not None):
            raise RequestInvalid("a path has a start and a target, nothing else a target", hint="see targetEntityId")
        along = Along(
            at=self._clock.now_ms() if request.as_of is None else request.as_of,
            type=None if request.relation_type is None else relation_code(request.relation_type),
            outward=request.direction != "in",
            inward=request.direction != "out",
            history=request.history,
        )

        def read(connection: Database) -> requests.TraverseGraphAnswer:
            start = entities.resolve(connection, request.start_entity_id)[0]
            target: int | None = None
            shortened: str | None = None
            if request.action == "related":
                limit = max(1, min(request.limit, LIMIT_MAX))
                nodes = graph_answers.named_together(connection, start, along, limit + 1)
                shortened = SHORTENED if len(nodes) > limit else None
                nodes = nodes[:limit]
            else:
                walk: Walked
                if request.target_entity_id is None:
                    walk = graph_walk.neighbours(connection, start, along, request.max_depth, request.limit)
                    shortened = None if walk.is_whole else SHORTENED
                else:
                    target = entities.resolve(connection, request.target_entity_id)[0]
                    walk = graph_walk.path(connection, start, target, along, request.max_depth)
                    shortened = None if walk.met or walk.is_whole else HUBS_ON_THE_WAY
                nodes = graph_answers.walked(connection, walk.met, along.at)
            names = graph_reading.names_of(connection, [start] if target is None else [start, target])
            return {
                "start": names[start],
                "target": None if target is None else names[target],
                "nodes": nodes,
                "relations": graph_reading.count_relations(connection, start),
                "shortened": shortened,
            }

        return await self._read(read)

    @answers(requests.EntityContext)
    async def context(self, request: requests.EntityContext) -> requests.EntityContextAnswer:
        """Return what is known of an entity; of a question about one what it asks for."""
        at = self._clock.now_ms() if request.as_of is None else request.as_of
        limit = max(1, min(request.limit, LIMIT_MAX))

        def read(connection: Database) -> requests.EntityContextAnswer:
            (number, *others), asked = entities.resolve_question(connection, request.id)
            along = _along(asked, at)
            rows = graph_reading.relations_of(connection, number, along, limit + 1)
            if asked is not None and asked.entity_type is not None:
                rows = _with_other_end(connection, number, rows, asked.entity_type) or rows
            if asked is not None and not rows:  # nothing answers: what is known of it may
                asked = None
                rows = graph_reading.relations_of(connection, number, Along(at), limit + 1)
            ended = graph_reading.ended_relations(connection, number, along, limit)
            (entity,) = graph_reading.list_entities(connection, [number])
            listed = graph_answers.relations(connection, rows[:limit], at, EVIDENCE_OF_A_RELATION)
            return {
                "entity": entity,
                "asked": None if asked is None else asked.type,
                "merged": graph_answers.entity_names(connection, graph_reading.merged_into(connection, number)),
                "others": graph_answers.entity_names(connection, others),
                "relations": listed,
                "ended": graph_answers.relations(connection, ended, at, EVIDENCE_OF_A_RELATION),
                "items": graph_answers.items_of(connection, number, [entity["name"], *entity["aliases"]], at),
                "hasMore": len(rows) > limit,
            }

        return await self._read(read)

    @answers(requests.FactContext)
    async def fact_context(self, request: requests.FactContext) -> requests.FactContextAnswer:
        """Return what a fact speaks of, and what else speaks of that."""
        number = ids.parse_number(request.id, ids.MEMORY)
        limit = max(1, min(request.limit, LIMIT_MAX))

        def read(connection: Database) -> requests.FactContextAnswer:
            memory = facts.find_fact(connection, number)
            if memory is None:
                raise NothingFound("there is no such fact", hint="`mem facts` lists them")
            return graph_answers.fact_context(connection, memory, self._clock.now_ms(), limit)

        return await self._read(read)

    @answers(requests.MergeEntities)
    async def merge(self, request: requests.MergeEntities) -> requests.MergedAnswer:
        """Keep that two entities are one."""

        def read(connection: Database) -> tuple[int, str, int, str]:
            one, into = (entities.resolve(connection, each)[0] for each in (request.id, request.into))
            return one, graph_reading.mark_of(connection, one), into, graph_reading.mark_of(connection, into)

        one, mark, into, into_mark = await self._read(read)
        if one == into:
            raise RequestInvalid("these are one already", hint="`mem entity` shows what was merged into it")
        await self._intents.keep("entity_merge", {"from": mark, "into": into_mark})
        await self._committer.catch_up()
        return {"entity": await self._entity(into)}

    @answers(requests.UnmergeEntity)
    async def unmerge(self, request: requests.UnmergeEntity) -> requests.MergedAnswer:
        """Take back that an entity is another one."""

        def read(connection: Database) -> tuple[int, int]:
            number = ids.parse_entity(request.id)
            if number is None:
                number = entities.resolve_merged(connection, request.id)
            merge = graph_merges.find_merge(connection, number)
            if merge is None:
                raise NothingFound("nobody has merged this entity into another one", hint="a rename stays one")
            return number, merge

        number, merge = await self._read(read)
        await self._intents.keep("entity_unmerge", {"merge": merge})
        await self._committer.catch_up()
        return {"entity": await self._entity(number)}

    async def _entity(self, number: int) -> requests.Entity:
        def read(connection: Database) -> list[requests.Entity]:
            return graph_reading.list_entities(connection, [graph_names.canonical(connection, number)])

        found = await self._read(read)
        if not found:
            raise NothingFound("there is no such entity any more", hint="`mem entity NAME` finds them")
        return found[0]

    async def _read(self, read: Callable[[Database], T]) -> T:
        """Read the graph, until it has taken too long."""

        def bounded(connection: Database) -> T:
            ends = time.thread_time() + WALK_SECONDS
            with graph_walk.interruptible(connection, lambda: time.thread_time() < ends):
                return read(connection)

        return await self._store.read(bounded)


def _along(asked: Asked | None, at: int) -> Along:
    if asked is None:
        return Along(at)
    return Along(at, asked.type, outward=asked.outward, inward=not asked.outward)


def _with_other_end(
    connection: Database, number: int, rows: list[graph_reading.RelationRow], type_: str
) -> list[graph_reading.RelationRow]:
    """Return the relations at whose other end an entity of this type is."""
    other = {row[0]: row[3] if row[1] == number else row[1] for row in rows}
    names = graph_reading.names_of(connection, other.values())
    return [row for row in rows if names[other[row[0]]]["type"] == type_]
