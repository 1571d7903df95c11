"""The whole surface, with the names, arguments and answers that users of rekal (1.8.0) know.

A project here is rekal's: a free label, one default for the session, none for everything. What is labelled lies in this
workspace's store like any memory; "_global" names the memories for every project. Shapes are in
`siftd.mcp.rekal_answers`.

Different on purpose: the same text under the same label is kept once; what is superseded is history and in no answer
but `memory_related`; whoever supersedes names the newest; a memory for every project waits for a person; a text is
answered in one line; an answer begun by a weight out of bounds, or by an argument that is not known, is an error.
"""

import time
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from siftd import ids
from siftd import instructions as lines
from siftd.errors import RequestInvalid, RequestRefused
from siftd.mcp import rekal_answers
from siftd.mcp.link import Link
from siftd.mcp.shown import shown
from siftd.ranking_config import NAMES
from siftd.wire.asking import (
    Conversations,
    Converse,
    Filters,
    Forget,
    Memories,
    MemoryHealth,
    Related,
    Remember,
    Search,
    SetConfig,
    Similar,
    Supersede,
    Update,
    elsewhere,
)
from siftd.wire.asking import Link as LinkMemories
from siftd.wire.global_routing import LETTER
from siftd.wire.requests import ListedMemory, Request
from siftd.workspace.paths import GLOBAL

Type = Literal["fact", "preference", "procedure", "context", "episode", "decision", "instruction"]
Relation = Literal["supersedes", "contradicts", "related_to"]
Limit = Annotated[int, Field(ge=1, le=200)]
Weight = Annotated[float | None, Field(ge=0, le=10)]
Days = Annotated[float | None, Field(ge=0.01, description="days")]
Found = dict[str, Any]
A = TypeVar("A")

FULL = (
    ("memory_store", "add"),
    ("memory_search", "read"),
    ("memory_update", "change"),
    ("memory_delete", "change"),
    ("memory_supersede", "add"),
    ("memory_link", "add"),
    ("memory_build_context", "read"),
    ("memory_similar", "read"),
    ("memory_topics", "read"),
    ("memory_timeline", "read"),
    ("memory_related", "read"),
    ("memory_health", "read"),
    ("memory_conflicts", "read"),
    ("memory_set_project", "read"),
    ("memory_set_config", "add"),
    ("conversation_start", "add"),
    ("conversation_tree", "read"),
    ("conversation_threads", "read"),
    ("conversation_stale", "read"),
)
"""Each tool, and whether it reads, adds, or changes what is there."""
INSTRUCTIONS = "\n\n".join(
    [
        " ".join(
            [
                "This is long-term memory across sessions: statements that were kept on purpose.",
                lines.REFERENCE,
                lines.CHECK,
            ]
        ),
        " ".join(
            [
                "At a session's start call memory_build_context with the task at hand. Before you store, call "
                "memory_search; where the same subject is there, memory_supersede it: the old one stays as history and "
                "leaves the search. memory_store with two to four tags.",
                lines.LASTS,
                lines.STYLE,
                lines.NEVER,
                "project is a label of your own: memory_set_project sets it for this session; none means everything.",
            ]
        ),
    ]
)


class FullTools:
    """The whole surface over one workspace, for one session of an agent."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._project: str | None = None

    def memory_store(
        self,
        content: str,
        memory_type: Type = "fact",
        project: str | None = None,
        conversation_id: str | None = None,
        tags: list[str] | None = None,
    ) -> str:
        """Store a new memory. Returns the memory ID."""
        request = Remember(
            text=content,
            type=memory_type,
            tags=tags or [],
            session_id=conversation_id,
            source="mcp",
            label=self._label(project),
        )
        answer = self._ask(request, project)
        return f"Stored memory {answer['id']}"

    def memory_search(
        self,
        query: str,
        limit: Limit = 10,
        project: str | None = None,
        memory_type: Type | None = None,
        conversation_id: str | None = None,
        w_fts: Weight = None,
        w_vec: Weight = None,
        w_recency: Weight = None,
        half_life: Days = None,
    ) -> list[Found]:
        """Search memories by words, meaning and recency. A weight counts for this search alone."""
        weights = {"w_fts": w_fts, "w_vec": w_vec, "w_recency": w_recency, "half_life": half_life}
        filters = {"type": memory_type, "session": conversation_id}
        return shown(self._found(query, limit, project, filters, weights))

    def memory_update(
        self,
        memory_id: str,
        content: str | None = None,
        tags: list[str] | None = None,
        memory_type: Type | None = None,
    ) -> str:
        """Update an existing memory's content, tags, or type."""
        if all(value is None for value in (content, tags, memory_type)) or not self._rows([memory_id]):
            return f"Memory {shown(memory_id)} not found or no changes"
        self._link.ask(Update(id=memory_id, text=content, tags=tags, type=memory_type))
        return f"Updated memory {memory_id}"

    def memory_delete(self, memory_id: str) -> str:
        """Forget a memory for good, from every file. To replace one, supersede it."""
        if not self._rows([memory_id]):
            return f"Memory {shown(memory_id)} not found"
        self._link.ask(Forget(ids=[ids.normal(memory_id, ids.MEMORY)], dry_run=False))
        return f"Deleted memory {memory_id}"

    def memory_supersede(
        self,
        old_id: str,
        new_content: str,
        memory_type: Type | None = None,
        project: str | None = None,
        conversation_id: str | None = None,
        tags: list[str] | None = None,
    ) -> str:
        """Create a new memory in the place of an existing one, which stays as history. What is not set is inherited."""
        if not self._rows([old_id]):
            raise RequestInvalid(f"Memory {shown(old_id)} not found", hint="memory_search finds its id")
        given = self._project if project is None else project
        request = Supersede(
            id=old_id,
            text=new_content,
            type=memory_type,
            tags=tags,
            label=None if given == GLOBAL else given,
            session_id=conversation_id,
            source="mcp",
        )
        answer = self._link.ask(request)
        return f"Created memory {answer['id']} superseding {old_id}"

    def memory_link(self, from_id: str, to_id: str, relation: Relation) -> str:
        """Create a link between two memories (supersedes, contradicts, related_to)."""
        self._link.ask(LinkMemories(from_id=from_id, to_id=to_id, relation=relation))
        return f"Linked {from_id} --{relation}--> {to_id}"

    def memory_build_context(
        self,
        query: str,
        project: str | None = None,
        limit: Limit = 10,
        w_fts: Weight = None,
        w_vec: Weight = None,
        w_recency: Weight = None,
        half_life: Days = None,
    ) -> Found:
        """Build rich context for a query: relevant memories, conflicts, and the time that they span."""
        weights = {"w_fts": w_fts, "w_vec": w_vec, "w_recency": w_recency, "half_life": half_life}
        found = self._found(query, limit, project, {}, weights)
        return shown({
            "query": query,
            "memories": found,
            "conflicts": self.memory_conflicts(project),
            "timeline_summary": rekal_answers.span(found),
        })  # fmt: skip

    def memory_similar(self, memory_id: str, limit: Limit = 5) -> list[Found]:
        """Find memories similar to a given memory in meaning."""
        if not self._rows([memory_id]):
            return []
        found = self._link.ask(Similar(id=memory_id, limit=limit))["similar"]
        near = {each["id"]: each["cosine"] for each in found}
        return shown([rekal_answers.memory(each, id_, near[id_]) for id_, each in self._rows(list(near)).items()])

    def memory_topics(self, project: str | None = None) -> list[Found]:
        """Get how many memories there are of each type."""
        topics = self._ask(MemoryHealth(label=self._label(project)), project)["topics"]
        return shown([rekal_answers.topic(each) for each in topics["types"]])

    def memory_timeline(
        self,
        project: str | None = None,
        start: Annotated[str | None, Field(description="YYYY-MM-DD HH:MM:SS, UTC; or 7d")] = None,
        end: str | None = None,
        limit: Limit = 20,
    ) -> list[Found]:
        """Get memories by creation time, the latest first, optionally within dates."""
        now_ms = time.time_ns() // 1_000_000
        since, until = (rekal_answers.moment(each, now_ms) if each else None for each in (start, end))
        request = Memories(since=since, until=until, by_creation=True, limit=limit, label=self._label(project))
        found = self._ask(request, project)["memories"]
        letter = LETTER if self._is_global(project) else "m"
        return shown([rekal_answers.memory(each, f"{letter}{each['id']}") for each in found])

    def memory_related(self, memory_id: str) -> list[Found]:
        """Find all memories linked to a given memory, superseded ones too."""
        if not self._rows([memory_id]):
            return []
        letter = ids.parse(memory_id, ids.MEMORY)[0]
        rows = self._link.ask(Related(id=memory_id))["related"]
        return shown([
            {"relation": each["relation"], "id": f"{letter}{each['id']}", "content": each["text"]} for each in rows
        ])  # fmt: skip

    def memory_health(self) -> Found:
        """Get a health report of the memories."""
        return rekal_answers.health(shown(self._link.ask(MemoryHealth())["health"]))

    def memory_conflicts(self, project: str | None = None) -> list[Found]:
        """Find pairs of memories that contradict each other, until one is superseded."""
        letter = LETTER if self._is_global(project) else "m"
        rows = self._ask(MemoryHealth(label=self._label(project)), project)["conflicts"]
        return shown([rekal_answers.conflict(each, letter) for each in rows])

    def memory_set_project(self, project: str) -> str:
        """Set the default project for this session. Tools use this unless told otherwise."""
        self._project = project
        return f"Default project set to '{shown(project)}'"

    def memory_set_config(
        self,
        key: Annotated[str, Field(description="w_fts, w_vec, w_recency, or half_life")],
        value: Annotated[str, Field(description="a number")],
        project: str | None = None,
    ) -> str:
        """Set how a project's searches weigh words, meaning and recency. Persists across sessions."""
        if key not in NAMES:
            return f"Invalid key '{shown(key)}'. Valid keys: {', '.join(NAMES)}"
        try:
            number = float(value)
        except ValueError:
            return f"Invalid value '{shown(value)}': must be numeric"
        if not (given := self._project if project is None else project):
            return "No project specified and no session default set. Use memory_set_project first."
        self._ask(SetConfig(values={key: number}, label=self._label(given)), given)
        return f"Set {key}={value} for project '{shown(given)}'"

    def conversation_start(
        self,
        title: str | None = None,
        project: str | None = None,
        follows_up_on: str | None = None,
        branches_from: str | None = None,
    ) -> str:
        """Start a new conversation. Optionally link it to an existing one."""
        request = Converse(
            title=title or "",
            label=self._label(project),
            follows_up_on=follows_up_on,
            branches_from=branches_from,
        )
        answer = self._link.ask(request)
        return f"Started conversation {answer['id']}"

    def conversation_tree(self, conversation_id: str) -> list[Found]:
        """Get the links of the whole tree that a conversation belongs to."""
        try:
            rows = self._link.ask(Conversations(id=conversation_id))["conversations"]
        except RequestRefused as error:
            if error.code != RequestInvalid.code:
                raise
            return []
        return shown([link for each in rows for link in rekal_answers.links(each)])

    def conversation_threads(self, project: str | None = None, limit: Limit = 20) -> list[Found]:
        """List recent conversations with memory counts."""
        rows = self._link.ask(Conversations(label=self._label(project), limit=limit))["conversations"]
        return shown([rekal_answers.conversation(each) for each in rows])

    def conversation_stale(self, days: Annotated[int, Field(ge=0, le=36_500)] = 30) -> list[Found]:
        """Find conversations in which nothing happened for so many days."""
        now_ms = time.time_ns() // 1_000_000
        rows = self._link.ask(Conversations(stale_days=days, limit=200))["conversations"]
        return shown([rekal_answers.stale(each, now_ms) for each in rows])

    def _found(
        self, query: str, limit: int, project: str | None, filters: Found, weights: dict[str, float | None]
    ) -> list[Found]:
        """Return the memories that a search finds, best first, and count that they were read."""
        request = Search(
            query=query,
            k=limit,
            filters=Filters(
                kind="memory",
                team=False,
                label=self._label(project),
                **{name: value for name, value in filters.items() if value},
            ),
            weights={name: value for name, value in weights.items() if value is not None},
        )
        hits = self._ask(request, project)["hits"]
        scores = {each["id"]: each["score"] for each in hits}
        rows = self._rows(list(scores), is_read=True)
        return [rekal_answers.memory(rows[id_], id_, score) for id_, score in scores.items() if id_ in rows]

    def _rows(self, named: list[str], *, is_read: bool = False) -> dict[str, ListedMemory]:
        """Return the memories of these ids that exist, by the ids as they are cited."""
        cited = [ids.normal(each, ids.MEMORY) for each in named if ids.is_id(each)]
        found: dict[str, ListedMemory] = {}
        for letter in ("m", LETTER):
            if own := [each for each in cited if each[0] == letter]:
                rows = self._link.ask(Memories(ids=own, read=is_read))["memories"]
                found |= {f"{letter}{row['id']}": row for row in rows}
        return found

    def _ask(self, request: Request[A], project: str | None) -> A:
        """Return the answer to what may be about the memories for every project."""
        return self._link.ask(elsewhere(request) if self._is_global(project) else request)

    def _is_global(self, project: str | None) -> bool:
        return (self._project if project is None else project) == GLOBAL

    def _label(self, project: str | None) -> str | None:
        """Return the label under which a request looks; None for everything, or for every project's memories."""
        given = self._project if project is None else project
        return None if given == GLOBAL else given or None
