"""Routes that look something up; they change nothing."""

from __future__ import annotations

from typing import Any, get_args

from siftd import ids
from siftd.web.routing import Call
from siftd.web.types import DoctorAnswer, HealthAnswer, ItemAnswer, ProjectsAnswer, SearchQuery, TeamSource, WhyAnswer
from siftd.wire.asking import (
    Edges,
    FactStory,
    Filters,
    Info,
    Injections,
    Memories,
    MemoryHealth,
    Search,
    Sessions,
    Show,
    Stats,
    Timeline,
)
from siftd.wire.requests import (
    EdgesAnswer,
    InfoAnswer,
    InjectionsAnswer,
    MemoriesAnswer,
    MemoryHealthAnswer,
    SearchAnswer,
    SessionsAnswer,
    StatsAnswer,
    TimelineAnswer,
)
from siftd.workspace.paths import GLOBAL

_FILTERS = ("tool", "session", "client", "file", "symbol", "type", "since", "until", "as_of", "superseded")
_WEIGHTS: dict[str, dict[str, float]] = {
    "hybrid": {},
    "words": {"vector": 0.0},
    "meaning": {"words": 0.0, "raw": 0.0, "trigram": 0.0},
}
"""What is left out by each strategy."""


def health(_: Call) -> HealthAnswer:
    return HealthAnswer(ok=True)


def projects(call: Call) -> ProjectsAnswer:
    return call.state.projects.list()


def doctor(call: Call) -> DoctorAnswer:
    return call.state.examinations.of(call.state.projects.folder(call.path["project"]))


def search(call: Call) -> SearchAnswer:
    query: SearchQuery = call.query
    filters: dict[str, Any] = {name: value for name in _FILTERS if (value := getattr(query, name))}
    if query.source is not None:
        filters["source" if query.source in get_args(TeamSource) else "kind"] = query.source
    if query.team is not None:
        filters["team"] = query.team
    request = Search(
        query=query.q, k=query.k, filters=Filters(**filters), weights=_WEIGHTS[query.strategy], group=query.group
    )
    answer = call.state.projects.ask(call.path["project"], request)
    if not query.explain:
        for hit in answer["hits"]:
            hit["why"] = {}
    return answer


def info(call: Call) -> InfoAnswer:
    return call.state.projects.ask(call.path["project"], Info())


def sessions(call: Call) -> SessionsAnswer:
    query = call.query
    request = Sessions(limit=query.limit, client=query.client, cursor=query.cursor)
    return call.state.projects.ask(call.path["project"], request)


def timeline(call: Call) -> TimelineAnswer:
    query = call.query
    request = Timeline(
        around=query.around,
        session=query.session,
        client=query.client,
        before=query.before,
        after=query.after,
        cursor=query.cursor,
    )
    return call.state.projects.ask(call.path["project"], request)


def item(call: Call) -> ItemAnswer:
    answer = call.state.projects.ask(call.path["project"], Show(id=call.path["id"]))
    return ItemAnswer(item={**answer["item"]})


def memories(call: Call) -> MemoriesAnswer:
    query = call.query
    request = Memories(
        type=query.type,
        tag=query.tag,
        since=query.since,
        until=query.until,
        as_of=query.as_of,
        pinned=query.pinned,
        waiting=query.waiting,
        superseded=query.superseded,
        limit=query.limit,
        cursor=query.cursor,
    )
    return call.state.projects.ask(call.path["project"], request)


def memory_health(call: Call) -> MemoryHealthAnswer:
    return call.state.projects.ask(call.path["project"], MemoryHealth())


def injections(call: Call) -> InjectionsAnswer:
    query = call.query
    request = Injections(session=query.session, limit=query.limit, cursor=query.cursor)
    return call.state.projects.ask(call.path["project"], request)


def why(call: Call) -> WhyAnswer:
    project, cited = call.path["project"], call.path["id"]
    given = call.state.projects.ask(project, Injections(id=cited))
    is_memory = ids.parse(cited)[0] in (ids.MEMORY, ids.GLOBAL_MEMORY)
    story = call.state.projects.ask(project, FactStory(id=cited)) if is_memory else None
    return WhyAnswer(injections=given["injections"], story=story)


def stats(call: Call) -> StatsAnswer:
    return call.state.projects.ask(call.path["project"], Stats(days=call.query.days, part=call.query.part))


def graph(call: Call) -> EdgesAnswer:
    project, cited = project_and_id(call)
    return call.state.projects.ask(project, Edges(id=cited, depth=call.query.depth))


def project_and_id(call: Call) -> tuple[str, str]:
    """Return where a thing is and how it is cited there: what is kept for every project has a daemon of its own."""
    kind, number = ids.parse(call.path["id"])
    if kind == ids.GLOBAL_MEMORY:
        return GLOBAL, ids.cite(ids.MEMORY, number)
    return call.path["project"], call.path["id"]
