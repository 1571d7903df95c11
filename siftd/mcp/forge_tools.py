"""`forge_memory`: one tool with the operations, arguments and words that users of a team's memory elsewhere know.

It works on this workspace and on the replica of its team, so that it answers without a network; only who says so asks
the team's server, and then the question leaves the machine. What is written is kept
here, and goes up with what the person shares; what another member told is theirs to change.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from siftd import ids
from siftd.errors import RequestInvalid
from siftd.harmless import harmless
from siftd.mcp.link import Link
from siftd.mcp.shown import labelled
from siftd.wire.asking import Filters, Forget, Mute, Remember, Search, Show, TeamSearch, TeamStatus, Verify
from siftd.wire.requests import Hit

Operation = Literal["search", "get", "write", "delete", "feedback"]
Source = Literal["memory", "fact", "summary", "note", "knowledge", "issue", "comment", "job", "decision", "policy"]
Strategy = Literal["semantic", "keyword", "hybrid", "graph"]
Type = Literal["fact", "preference", "decision", "procedure", "context", "episode", "instruction"]
WEIGHTS: dict[Strategy, dict[str, float]] = {
    "semantic": {"words": 0.0, "raw": 0.0, "trigram": 0.0},
    "keyword": {"vector": 0.0},
    "hybrid": {},
    "graph": {"graph": 1.0},
}
"""By strategy: the retrievers that are left out, or added."""
FOUND_CHARS_MAX = 2_000
"""Of one result, and as much of what is said about it, where a member may have written fifty times that."""
Found = dict[str, Any]


class ForgeTools:
    """The tool over one workspace."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def forge_memory(
        self,
        operation: Operation,
        query: str = "",
        projectId: Annotated[str, Field(description="of the team's, or this workspace's; empty: here")] = "",  # noqa: N803
        topK: Annotated[int, Field(ge=1, le=50)] = 8,  # noqa: N803
        sourceFilter: Annotated[list[Source], Field(description="empty: all")] = [],  # noqa: B006, N803
        strategy: Strategy = "hybrid",
        documentId: Annotated[str, Field(description="of get, delete, feedback: m3, t12")] = "",  # noqa: N803
        text: Annotated[str, Field(description="of write: one statement")] = "",
        type: Type = "fact",  # noqa: A002 - the name that an agent guesses
        tags: list[str] = [],  # noqa: B006 - a default in the schema, never changed
        verdict: Annotated[
            Literal["", "confirmed", "outdated"], Field(description="of feedback; outdated: it is given to nobody here")
        ] = "",
        at: Annotated[
            Literal["here", "server"], Field(description="of search; server: what is asked leaves the machine")
        ] = "here",
    ) -> Found:
        """The memory of this project and of its team: search, get one, write, delete one's own, say whether one holds.
        What others of the team told is cited t12, with its author; each result has its rank by each way of finding."""
        self._check_project(projectId)
        match operation:
            case "search":
                if at == "server":
                    return labelled(self._search_server(query, topK, sourceFilter, strategy))
                return labelled(self._search(query, topK, sourceFilter, strategy))
            case "get":
                return labelled({"document": self._link.ask(Show(id=_named(documentId)))["item"]})
            case "write":
                if not text.strip():
                    raise RequestInvalid("there is nothing to write", hint="give `text`, one statement")
                written = self._link.ask(Remember(text=text, type=type, tags=tags, source="mcp"))
                return labelled({"documentId": written["id"], "similar": written["similar"]})
            case "delete":
                gone = self._link.ask(Forget(ids=[_memory(documentId)], dry_run=False))
                return labelled({"deleted": gone["matched"]})
            case "feedback":
                return labelled(self._feedback(_named(documentId), verdict))

    def _search(self, query: str, top: int, sources: list[Source], strategy: Strategy) -> Found:
        hits: dict[str, Hit] = {}
        degraded: dict[str, None] = {}
        wanted: list[Source | None] = [*sources] or [None]
        for source in wanted:
            filters = Filters() if source is None else Filters(source=source)
            request = Search(query=query, k=top, filters=filters, weights=WEIGHTS[strategy], asking=self._link.session)
            answer = self._link.ask(request)
            hits |= {hit["id"]: hit for hit in answer["hits"]}
            degraded |= dict.fromkeys(filter(None, [answer["degraded"]]))
        best = sorted(hits.values(), key=lambda hit: -hit["score"])[:top]
        lacking = "; ".join(degraded) or None
        return {"results": [_result(hit) for hit in best], "strategy": strategy, "degraded": lacking}

    def _search_server(self, query: str, top: int, sources: list[Source], strategy: Strategy) -> Found:
        """Ask the team's server, where the workspace is of a team: an agent that wants this says so."""
        answer = self._link.ask(TeamSearch(query=query, k=top, sources=sources, strategy=strategy))
        results = [
            {
                "documentId": each["id"],
                "source": each["source"],
                "text": harmless(each["text"], FOUND_CHARS_MAX),
                "metadata": {**_in_short(each["metadata"]), "author": each["author"], "ts": each["ts"]},
                "ranks": each["ranks"],
            }
            for each in answer["found"]
        ]
        return {"results": results, "strategy": answer["strategy"], "degraded": answer["degraded"]}

    def _feedback(self, cited: str, verdict: str) -> Found:
        """Say whether a fact holds. Of what is no fact of this workspace's it is kept that it is given no more."""
        if not verdict:
            raise RequestInvalid("there is no verdict", hint="confirmed or outdated")
        letter, _ = ids.parse(cited, ids.MEMORY)
        if letter in (ids.MEMORY, ids.GLOBAL_MEMORY):
            said = self._link.ask(Verify(id=cited, verdict="confirmed" if verdict == "confirmed" else "outdated"))
            return {"documentId": said["id"], "status": said["status"]}
        muted = self._link.ask(Mute(id=cited, muted=verdict == "outdated"))
        return {"documentId": muted["event"], "status": "active" if muted["mutedSince"] is None else "muted"}

    def _check_project(self, project: str) -> None:
        if project and project not in (self._link.workspace.key, *self._team_names()):
            raise RequestInvalid(
                "this workspace is not of that project", hint="leave `projectId` out: it is about this one"
            )

    def _team_names(self) -> tuple[str, ...]:
        """Return how the team's server calls this project: by id and name; nothing where it joined none."""
        state = self._link.ask(TeamStatus(ask=False))
        return () if state["team"] is None else (state["project"], state["team"]["name"])


def _named(cited: str) -> str:
    if not cited.strip():
        raise RequestInvalid("no document is named", hint="give `documentId` as a search gave it: m3, t12")
    return cited


def _memory(cited: str) -> str:
    """Return the id of what an agent may delete; a bare number is a memory's, as in its other tools. What happened, and
    a document, is forgotten by a person's command."""
    letter, number = ids.parse(_named(cited), ids.MEMORY)
    if letter in (ids.EVENT, ids.SUMMARY):
        raise RequestInvalid("this is no memory", hint="only what was kept on purpose is deleted here: m3")
    return ids.cite(letter, number)


def _in_short(metadata: Found) -> Found:
    """Return what an item's author says of it, as far as there is room."""
    short, room = {}, FOUND_CHARS_MAX
    for name, value in metadata.items():
        room -= len(name) + len(str(value))
        if room >= 0:
            short[name] = value
    return short


def _result(hit: Hit) -> Found:
    """Return a hit in the words that such memories have: its rank by each leg, since no scale is shared."""
    ranks = {leg: found["rank"] for leg, found in hit["why"].items() if isinstance(found, dict) and "rank" in found}
    team = hit.get("team")
    return {
        "documentId": hit["id"],
        "source": team["source"] if team else hit["kind"],
        "text": harmless(hit["passage"] or hit["text"], FOUND_CHARS_MAX),
        "metadata": {
            "type": hit.get("type"),
            "saidBy": hit["saidBy"],
            "session": hit["sessionId"],
            "ts": hit["ts"],
            "author": team["author"] if team else None,
            "title": team["title"] if team else None,
            "url": team["url"] if team else None,
        },
        "ranks": ranks,
    }
