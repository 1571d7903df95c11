"""The graph as an agent asks for it: of the whole surface, since four more tools would cost every session some tokens.

An agent looks, and changes nothing: which names are of one is a person's to say. Names of tools and arguments are those
that other memories with a graph have.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from siftd.mcp.link import Link
from siftd.mcp.shown import labelled
from siftd.wire.asking import EntityContext, FactContext, SearchEntity, TraverseGraph

GRAPH = ("search_entity", "traverse_graph", "get_entity_context", "get_fact_context")
EntityType = Literal[
    "", "person", "team", "project", "service", "tool", "place", "concept", "file", "symbol", "package", "command",
    "test", "error", "branch", "commit", "issue",
]  # fmt: skip
Limit = Annotated[int, Field(ge=1, le=100)]
Found = dict[str, Any]


class GraphTools:
    """The tools over one workspace's graph."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def search_entity(self, query: str, entityType: EntityType = "", limit: Limit = 10) -> Found:  # noqa: N803
        """Find who and what this project knows by a name, an older name or words: people, teams, services, tools,
        files, symbols, packages. A question finds what it names; an empty query gives what most hangs on. Each has an
        id (x3) for the other tools."""
        request = SearchEntity(query=query, entity_type=entityType or None, limit=limit)
        return labelled({"entities": self._link.ask(request)["entities"]})

    def traverse_graph(
        self,
        startEntityId: Annotated[str, Field(description="x3, or a name")],  # noqa: N803
        action: Literal["neighbors", "path", "related"] = "neighbors",
        targetEntityId: Annotated[str, Field(description="of a path")] = "",  # noqa: N803
        relationType: Annotated[str, Field(description="DEPENDS_ON, USES, WORKS_ON, ...")] = "",  # noqa: N803
        maxDepth: Annotated[int, Field(ge=1, le=6)] = 2,  # noqa: N803
        limit: Limit = 20,
        direction: Annotated[
            Literal["both", "out", "in"], Field(description="out: what it depends on; in: what depends on it")
        ] = "both",
    ) -> Found:
        """What hangs together with an entity: neighbors by relations, the path to another one, related by the same
        events, facts and documents. Each step cites what says so (e12, m3, d4:12) for `show`. Use it before changing
        what others may depend on."""
        request = TraverseGraph(
            start_entity_id=startEntityId,
            action=action,
            target_entity_id=targetEntityId or None,
            relation_type=relationType or None,
            max_depth=maxDepth,
            limit=limit,
            direction=direction,
        )
        return labelled({**self._link.ask(request)})

    def get_entity_context(
        self,
        entityId: Annotated[str, Field(description="x3, a name, or a question that holds a name")],  # noqa: N803
        limit: Limit = 20,
    ) -> Found:
        """All that is known of one entity: other names, relations that hold and those that have ended, what names it,
        each with the words that say so. "What does auth depend on?" gives the relations that it asks for."""
        return labelled({**self._link.ask(EntityContext(id=entityId, limit=limit))})

    def get_fact_context(
        self,
        factId: Annotated[str, Field(description="m3")],  # noqa: N803
        limit: Limit = 10,
    ) -> Found:
        """What a fact speaks of, what it says of that, the events it was taken from, and which facts speak of the
        same."""
        return labelled({**self._link.ask(FactContext(id=factId, limit=limit))})
