"""The whole surface, under the names that users of rekal know, for clients that are told to use them.

A project here is a workspace, and a server speaks for one: `project` is taken where it names this one, or is
"_global" for the memories of every project, and told otherwise.
"""

import time
from typing import Annotated, Any, Literal

from pydantic import Field

from siftd.errors import RequestInvalid
from siftd.everywhere import LETTER
from siftd.mcp.link import Link
from siftd.mcp.shown import labelled
from siftd.moments import parse_moment
from siftd.paths import GLOBAL
from siftd.workspace import path_as_text

Type = Literal["fact", "preference", "decision", "procedure", "context", "episode", "instruction"]
Relation = Literal["supersedes", "contradicts", "related_to"]
Limit = Annotated[int, Field(ge=1, le=200)]
Found = dict[str, Any]

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


class FullTools:
    """The whole surface over one workspace."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def memory_store(
        self,
        content: str,
        memory_type: Type = "fact",
        project: str | None = None,
        conversation_id: str | None = None,
        tags: list[str] | None = None,
    ) -> Found:
        """Keep a memory. Answers its id, and those that say nearly the same."""
        return self._link.ask(
            "remember",
            **self._place(project),
            text=content,
            type=memory_type,
            tags=tags or [],
            sessionId=conversation_id,
            source="mcp",
        )

    def memory_search(
        self,
        query: str,
        limit: Limit = 10,
        project: str | None = None,
        memory_type: Type | None = None,
        conversation_id: str | None = None,
    ) -> Found:
        """Search memories by words and meaning."""
        place = self._place(project)
        filters: Found = {"kind": "memory"} | ({"session": conversation_id} if conversation_id else {})
        filters |= {"type": memory_type} if memory_type else {}
        filters |= {"project": True} if project and not place else {}
        answer = self._link.ask("search", **place, query=query, k=limit, filters=filters)
        return labelled({"memories": [_line(each) for each in answer["hits"]], "degraded": answer["degraded"]})

    def memory_update(
        self,
        memory_id: str,
        content: str | None = None,
        tags: list[str] | None = None,
        memory_type: Type | None = None,
    ) -> Found:
        """Change a memory's text, tags or type."""
        return self._link.ask("update", id=memory_id, text=content, tags=tags, type=memory_type)

    def memory_delete(self, memory_id: str) -> Found:
        """Forget a memory for good, from every file. To replace one, supersede it."""
        answer = self._link.ask("forget", ids=[_memory_id(memory_id)], dryRun=False)
        if not answer["matched"]:
            raise RequestInvalid(f"there is no memory {memory_id}", hint="memory_timeline lists them")
        return {"deleted": _memory_id(memory_id), "pending": answer["pending"]}

    def memory_supersede(
        self,
        old_id: str,
        new_content: str,
        memory_type: Type | None = None,
        project: str | None = None,
        conversation_id: str | None = None,
        tags: list[str] | None = None,
    ) -> Found:
        """Keep a memory in the place of another one, which stays as history."""
        self._place(project)
        return self._link.ask(
            "supersede",
            id=old_id,
            text=new_content,
            type=memory_type,
            tags=tags,
            sessionId=conversation_id,
            source="mcp",
        )

    def memory_link(self, from_id: str, to_id: str, relation: Relation) -> Found:
        """Link two memories."""
        return self._link.ask("link", **{"from": from_id, "to": to_id}, relation=relation)

    def memory_build_context(self, query: str, project: str | None = None, limit: Limit = 10) -> Found:
        """What bears on a query: memories, what was done, contradictions, the latest memories."""
        place = self._place(project)
        filters = {"project": True} if project and not place else {}
        hits = self._link.ask("search", **place, query=query, k=limit, filters=filters)["hits"]
        return labelled(
            {
                "memories": [_line(each) for each in hits if each["kind"] == "memory"],
                "work": [_line(each) for each in hits if each["kind"] != "memory"],
                "conflicts": self.memory_conflicts(project)["conflicts"],
                "timeline": self.memory_timeline(project, limit=limit)["memories"],
            }
        )

    def memory_similar(self, memory_id: str, limit: Limit = 5) -> Found:
        """The memories nearest to one in meaning."""
        return labelled(self._link.ask("similar", id=memory_id, limit=limit))

    def memory_topics(self, project: str | None = None) -> Found:
        """How many memories hold now, by type and by tag."""
        topics: Found = self._link.ask("memory_health", **self._place(project))["topics"]
        return labelled(topics)

    def memory_timeline(
        self,
        project: str | None = None,
        start: str | None = None,
        end: str | None = None,
        limit: Limit = 20,
    ) -> Found:
        """Memories, the latest first, within dates."""
        place = self._place(project)
        now_ms = time.time_ns() // 1_000_000
        since, until = (parse_moment(each, now_ms) if each else None for each in (start, end))
        found = self._link.ask("memories", **place, since=since, until=until, limit=limit)["memories"]
        return labelled({"memories": [_memory(each, _letter(place)) for each in found]})

    def memory_related(self, memory_id: str) -> Found:
        """The links of a memory, superseded ones too."""
        rows = self._link.ask("related", id=memory_id)["related"]
        letter = "g" if memory_id.strip().startswith(("g", "#g")) else "m"
        return labelled({
            "related": [
                {"relation": each["relation"], "from": f"{letter}{each['from_id']}", "to": f"{letter}{each['to_id']}",
                 "id": f"{letter}{each['id']}", "text": each["text"]}
                for each in rows
            ]
        })  # fmt: skip

    def memory_health(self) -> Found:
        """The memories' numbers."""
        health: Found = self._link.ask("memory_health")["health"]
        return health

    def memory_conflicts(self, project: str | None = None) -> Found:
        """Pairs that contradict each other and of which neither is superseded."""
        place = self._place(project)
        letter, rows = _letter(place), self._link.ask("memory_health", **place)["conflicts"]
        return labelled({
            "conflicts": [
                {"a": f"{letter}{each['a_id']}", "a_text": each["a_text"],
                 "b": f"{letter}{each['b_id']}", "b_text": each["b_text"]}
                for each in rows
            ]
        })  # fmt: skip

    def memory_set_project(self, project: str) -> Found:
        """Check that this server speaks for a project: its folder, or the folder's name. `_global` is every project."""
        return {"project": project if self._place(project) else path_as_text(self._link.workspace.root)}

    def memory_set_config(
        self,
        w_fts: float | None = None,
        w_vec: float | None = None,
        w_recency: float | None = None,
        half_life: Annotated[float | None, Field(description="days")] = None,
        unset: list[Literal["w_fts", "w_vec", "w_recency", "half_life"]] | None = None,
        project: str | None = None,
    ) -> Found:
        """Set how this project's searches weigh words, meaning and recency. Answers each number and whence it is."""
        self._check_project(project)
        given = {"w_fts": w_fts, "w_vec": w_vec, "w_recency": w_recency, "half_life": half_life}
        values = {name: value for name, value in given.items() if value is not None or name in (unset or ())}
        scoring: Found = self._link.ask("set_config", values=values)["scoring"]
        return scoring

    def conversation_start(
        self,
        title: str | None = None,
        project: str | None = None,
        follows_up_on: str | None = None,
        branches_from: str | None = None,
    ) -> Found:
        """Begin a conversation, from another one if so."""
        self._check_project(project)
        return self._link.ask("converse", title=title or "", followsUpOn=follows_up_on, branchesFrom=branches_from)

    def conversation_tree(self, conversation_id: str) -> Found:
        """The whole tree that a conversation belongs to."""
        return labelled(self._link.ask("conversations", id=conversation_id))

    def conversation_threads(self, project: str | None = None, limit: Limit = 20) -> Found:
        """The conversations, the latest first, with how much was done and remembered in each."""
        self._check_project(project)
        return labelled(self._link.ask("conversations", limit=limit))

    def conversation_stale(self, days: Annotated[int, Field(ge=0, le=36_500)] = 30) -> Found:
        """The conversations in which nothing happened for so many days."""
        return labelled(self._link.ask("conversations", staleDays=days, limit=200))

    def _place(self, project: str | None) -> Found:
        """Return what a request says of where: here, or with "_global" among the memories for every project."""
        if project == GLOBAL:
            return {"project": False}
        self._check_project(project)
        return {}

    def _check_project(self, project: str | None) -> None:
        root = self._link.workspace.root
        if project and project not in (root, root.rpartition("/")[2]):
            raise RequestInvalid(f"this server speaks for {root}", hint="start one in the other project's folder")


def _memory_id(text: str) -> str:
    cited = text.strip().removeprefix("#")
    letter, number = ("g", cited[1:]) if cited.startswith("g") else ("m", cited.removeprefix("m"))
    if not number.isdecimal():
        raise RequestInvalid("this is not the id of a memory", hint="they look like m3, or g3 for every project")
    return f"{letter}{number}"


def _line(hit: dict[str, Any]) -> dict[str, Any]:
    told = {"id": hit["id"], "type": hit.get("type") or hit["tool"], "said_by": hit["saidBy"], "score": hit["score"]}
    return {**told, "text": hit["text"]}


def _letter(place: Found) -> str:
    return LETTER if place else "m"


def _memory(row: dict[str, Any], letter: str) -> dict[str, Any]:
    kept = {name: row[name] for name in ("type", "said_by", "text", "tags", "importance", "ts", "session_id")}
    return {"id": f"{letter}{row['id']}", **kept}
