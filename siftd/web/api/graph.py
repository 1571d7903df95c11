"""Routes of the graph: entities, one of them whole, what hangs together; they change nothing."""

from __future__ import annotations

from siftd.web.routing import Call
from siftd.wire.asking import EntityContext, SearchEntity, TraverseGraph
from siftd.wire.requests import EntityContextAnswer, SearchEntityAnswer, TraverseGraphAnswer


def entities(call: Call) -> SearchEntityAnswer:
    query = call.query
    request = SearchEntity(query=query.q, entity_type=query.type, limit=query.limit)
    return call.state.projects.ask(call.path["project"], request)


def entity(call: Call) -> EntityContextAnswer:
    query = call.query
    request = EntityContext(id=query.name, as_of=query.as_of, limit=query.limit)
    return call.state.projects.ask(call.path["project"], request)


def walk(call: Call) -> TraverseGraphAnswer:
    query = call.query
    request = TraverseGraph(
        start_entity_id=query.start,
        target_entity_id=query.target,
        action=query.action,
        relation_type=query.relation,
        direction=query.direction,
        max_depth=query.depth,
        limit=query.limit,
        as_of=query.as_of,
        history=query.history,
    )
    return call.state.projects.ask(call.path["project"], request)
