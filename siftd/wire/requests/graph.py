"""The graph: who and what a workspace's events, facts and documents name, how these hang together, what says so."""

from __future__ import annotations

from typing import Literal, TypedDict

from siftd.filters import Moment
from siftd.wire.requests.memories import Memory
from siftd.wire.requests.request import Request


class EntityName(TypedDict):
    """An entity in short."""

    id: str
    """As it is cited: x3."""
    name: str
    type: str
    """person, team, project, service, tool, place, concept, file, symbol, package, command, test, error, branch,
    commit or issue."""


class Entity(EntityName):
    """An entity whole."""

    aliases: list[str]
    """Its other names: what it was called before it was renamed, abbreviations."""
    description: str
    """A sentence of an item that says what it is; empty where none does."""
    mentions: int
    relations: int
    """How many it has, those that have ended too."""
    firstTs: int
    """When it was first spoken of."""


class FoundEntity(Entity):
    """An entity that was looked for."""

    why: Literal["name", "alias", "words", "hub"]
    """By what it was found."""


class Evidence(TypedDict):
    """An item that says something: an event (e12), a fact (m3), a line of a document (d4:12)."""

    id: str
    ts: int | None
    """When it was said; null: not known."""
    untilTs: int | None
    """Since when it says so no longer: a document that changed, a fact that holds no more."""
    saidBy: str
    text: str
    """The passage that says it; empty where an earlier reading of a document did, which is not kept."""


class Relation(TypedDict):
    """How two entities hang together: `src` DEPENDS_ON `dst`."""

    src: EntityName
    type: str
    dst: EntityName
    source: str
    """By what it was first known: prose, manifest, code, call, git, model."""
    validFrom: int
    validTo: int | None
    """Since when it holds no longer; null: it holds."""
    mentions: int
    evidence: list[Evidence]


class WalkedEntity(TypedDict):
    """An entity that a walk came to, and from where."""

    entity: EntityName
    depth: int
    """Steps from the start."""
    parent: str
    """The entity (x3) that it was come to from."""
    relation: Relation | None
    """By which; null where only the same items name both (`related`)."""
    shared: int
    """Items that name both; 0 where none was looked for."""


class SearchEntityAnswer(TypedDict):
    """Entities, best first."""

    entities: list[FoundEntity]


class SearchEntity(Request[SearchEntityAnswer], frozen=True, kw_only=True):
    """Find entities by their names, older names and words. A question finds what it names. Without a query
    those with the most relations."""

    waits_for_log = True

    query: str = ""
    entity_type: str | None = None
    limit: int = 10


class TraverseGraphAnswer(TypedDict):
    """What a walk came to, nearest first; of a path each step in order."""

    start: EntityName
    target: EntityName | None
    nodes: list[WalkedEntity]
    relations: int
    """How many the start has."""
    shortened: str | None
    """Why this is less than all there is; null: it is all."""


class TraverseGraph(Request[TraverseGraphAnswer], frozen=True, kw_only=True):
    """Walk along relations that hold now, or held at `as_of`; with `history` also along those that have ended.

    `neighbors` gives what is up to `max_depth` steps away, `path` a shortest way to the target, `related` what the same
    items name. An entity is given by its id (x3) or its name."""

    waits_for_log = True

    start_entity_id: str
    action: Literal["neighbors", "path", "related"] = "neighbors"
    target_entity_id: str | None = None
    relation_type: str | None = None
    direction: Literal["both", "out", "in"] = "both"
    """Out: what the start depends on; in: what depends on it."""
    max_depth: int = 2
    """At most 6."""
    limit: int = 20
    as_of: Moment | None = None
    history: bool = False


class EntityContextAnswer(TypedDict):
    """All that is known of one entity, with what says so."""

    entity: Entity
    asked: str | None
    """The relation that a question was after: then no other one is listed. Null: all are."""
    merged: list[EntityName]
    """What was merged into it."""
    others: list[EntityName]
    """Of the same name, of another type."""
    relations: list[Relation]
    """Those that hold, the most mentioned first."""
    ended: list[Relation]
    """Those that held once, the latest first."""
    items: list[Evidence]
    """What names it: facts, then documents, then the latest events."""
    hasMore: bool
    """Whether there are relations that are not listed."""


class EntityContext(Request[EntityContextAnswer], frozen=True, kw_only=True):
    """What is known of an entity, now or at `as_of`: by its id (x3), its name, or a question that names it ("what does
    auth depend on?"), which is answered by the relations that it asks for."""

    waits_for_log = True

    id: str
    as_of: Moment | None = None
    limit: int = 20


class RelatedFact(TypedDict):
    """A fact that speaks of the same, and through which entities."""

    id: str
    text: str
    ts: int
    saidBy: str
    through: list[EntityName]


class FactContextAnswer(TypedDict):
    """A fact, what it speaks of, and what else speaks of that."""

    memory: Memory
    sources: list[Evidence]
    """The events that it was taken from."""
    entities: list[Entity]
    relations: list[Relation]
    """Those that it says."""
    related: list[RelatedFact]


class FactContext(Request[FactContextAnswer], frozen=True, kw_only=True):
    """What a fact (m3) speaks of, and which facts speak of the same."""

    waits_for_log = True

    id: str
    limit: int = 10


class MergedAnswer(TypedDict):
    """The entity that is there now."""

    entity: Entity


class MergeEntities(Request[MergedAnswer], frozen=True, kw_only=True):
    """Say that two entities are one; the second one's name stands. It can be undone."""

    waits_for_log = True

    id: str
    into: str


class UnmergeEntity(Request[MergedAnswer], frozen=True, kw_only=True):
    """Let an entity that was merged into another one stand by itself again."""

    waits_for_log = True

    id: str
