"""Memories that are kept: writing, changing, linking, looking at them as a whole."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from siftd.filters import Moment
from siftd.wire.requests.request import Request


class MemoryFields(TypedDict):
    """A memory as it is kept."""

    id: int
    ts: int
    updatedTs: int
    type: str
    text: str
    tags: list[str]
    project: str | None
    """What it was labelled with."""
    importance: int
    confidence: float | None
    validFrom: int | None
    validTo: int | None
    sessionId: str | None
    source: str | None
    pinned: bool
    uid: str | None
    saidBy: str
    waits: bool
    """For a person's word."""
    status: str
    """active, superseded, contradicted or archived: only what is active is found."""
    supersededBy: int | None
    scope: str
    """session, until it was used again, confirmed or important enough to be the project's."""
    origin: str
    """kept (on purpose), extracted (from words) or learnt (from deeds)."""
    topic: str | None
    quote: str | None
    """The words that it was taken from."""
    client: str | None


class MemoryLink(TypedDict):
    """Two memories and how they belong together."""

    fromId: int
    toId: int
    relation: str
    ts: int


class FactVerdict(TypedDict):
    """What was said of a memory once it was kept."""

    ts: int
    what: str
    by: int | None
    """The memory that it came of."""
    who: str
    why: str | None
    oldText: str | None


class Memory(MemoryFields):
    """A memory with its links, the events that it was taken from, and what was said of it since."""

    links: list[MemoryLink]
    sources: list[int]
    history: list[FactVerdict]


class ListedMemory(MemoryFields):
    """A memory, how often somebody read it, and when last."""

    reads: int
    readTs: int | None


class MemoriesAnswer(TypedDict):
    """Memories, and where the list goes on (null: nowhere)."""

    memories: list[ListedMemory]
    nextCursor: str | None


class RememberAnswer(TypedDict):
    """The memory, and those that say nearly the same, as they are cited."""

    id: str
    memoryId: int
    similar: list[str]
    duplicate: NotRequired[bool]
    """It is kept already."""
    waits: NotRequired[bool]
    """For a person's word."""


class UpdateAnswer(TypedDict):
    """The memory, and the names of what was changed."""

    id: str
    changed: list[str]
    waits: NotRequired[bool]


class AcceptAnswer(TypedDict):
    """The memory."""

    id: str


LinkAnswer = TypedDict("LinkAnswer", {"from": str, "to": str, "relation": str})
"""The two memories, as they are cited, and how they belong together."""


class RelatedMemory(TypedDict):
    """A link of a memory, and what stands at its other end."""

    relation: str
    ts: int
    fromId: int
    toId: int
    id: int
    type: str
    text: str


class RelatedAnswer(TypedDict):
    """The links of a memory."""

    related: list[RelatedMemory]


class SimilarMemory(TypedDict):
    """A memory, and how near it is."""

    id: str
    type: str
    text: str
    cosine: float


class SimilarAnswer(TypedDict):
    """The nearest first."""

    similar: list[SimilarMemory]


class Topic(TypedDict):
    """A type or a tag, how many memories have it, and when one was last changed."""

    topic: str
    count: int
    latest: int


class Topics(TypedDict):
    """How many memories hold now."""

    types: list[Topic]
    tags: list[Topic]


class Conflict(TypedDict):
    """Two memories that contradict each other while neither is superseded."""

    ts: int
    aId: int
    aText: str
    aProject: str | None
    bId: int
    bText: str
    bProject: str | None


class Health(TypedDict):
    """The memories' numbers; `byType` and `byLabel` count all that are kept, `conversations` the named."""

    total: int
    unsuperseded: int
    live: int
    pinned: int
    waiting: int
    expired: int
    oldestTs: int | None
    newestTs: int | None
    newestCreatedTs: int | None
    links: int
    contradictions: int
    conversations: int
    unembedded: int
    byType: dict[str, int]
    byLabel: list[tuple[str | None, int]]


class MemoryHealthAnswer(TypedDict):
    """Numbers, topics, and what contradicts."""

    health: Health
    topics: Topics
    conflicts: list[Conflict]


ScoringNumber = TypedDict("ScoringNumber", {"value": float, "from": str})
"""A number by which searches weigh, and whence it is: "project", "file" or "default"."""


class SetConfigAnswer(TypedDict):
    """All numbers, by their names."""

    scoring: dict[str, ScoringNumber]


class Remember(Request[RememberAnswer], frozen=True, kw_only=True):
    """Keep a statement on purpose. Answers `id`, `memoryId`, `similar` (ids), and `duplicate` when it is kept already.

    `from` and `until` bound its validity: outside of it the memory is in no search and no recall.
    """

    changes_brief = True
    may_be_global = True
    waits_for_log = True

    text: str
    type: str = "fact"
    tags: list[str] = []
    importance: int = 3
    confidence: float | None = None
    project: bool = True
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    pin: bool = False
    label: str | None = None
    """A word of one's own to keep it under, as rekal's users name their projects; one search may ask for it alone."""
    session_id: str | None = None
    source: str = "api"
    typed: bool = False
    """`mem` says so where a person typed it at a terminal. Else a pin, or a memory for every project, waits for one."""
    root: str | None = None
    """A folder more whose `.env`-like files' values are redacted: of the project from which one for all is kept."""


class Supersede(Request[RememberAnswer], frozen=True, kw_only=True):
    """Keep a memory in the place of another one (`id`), which stays as history, out of search. Answers like `remember`.

    What is not given is inherited.
    """

    changes_brief = True
    may_be_global = True
    waits_for_log = True

    id: str
    text: str
    type: str | None = None
    tags: list[str] | None = None
    importance: int | None = None
    confidence: float | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    pin: bool | None = None
    label: str | None = None
    session_id: str | None = None
    source: str = "api"
    typed: bool = False
    root: str | None = None


class Update(Request[UpdateAnswer], frozen=True, kw_only=True):
    """Change fields of a memory; a changed text is embedded anew. Answers `id`, `changed`."""

    changes_brief = True
    may_be_global = True
    waits_for_log = True

    id: str
    text: str | None = None
    type: str | None = None
    tags: list[str] | None = None
    importance: int | None = None
    confidence: float | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    pin: bool | None = None
    typed: bool = False
    root: str | None = None


class Accept(Request[AcceptAnswer], frozen=True, kw_only=True):
    """Say in a person's name that a memory that waits may stand: be pinned, or be for every project. Answers `id`.

    `mem pins --accept` asks a person first; no tool of an agent sends this.
    """

    may_be_global = True

    id: str


class Link(Request[LinkAnswer], frozen=True, kw_only=True):
    """Link two memories: `supersedes`, `contradicts` or `related_to`. Answers `from`, `to`, `relation`."""

    changes_brief = True
    may_be_global = True
    waits_for_log = True

    from_id: str
    to_id: str
    relation: str


class Memories(Request[MemoriesAnswer], frozen=True, kw_only=True):
    """The memories that hold now, or held at `as_of`, the latest first. `superseded` adds those that do not.

    `pinned` and `waiting` leave those that are pinned, or wait for a person's word; `ids` asks for these, whether they
    hold or not, and `read` counts that somebody read them. `by_creation` orders by when they were first written.
    """

    may_be_global = True

    ids: list[str] | None = None
    read: bool = False
    by_creation: bool = False
    type: str | None = None
    tag: str | None = None
    label: str | None = None
    since: Moment | None = None
    until: Moment | None = None
    as_of: Moment | None = None
    pinned: bool = False
    waiting: bool = False
    superseded: bool = False
    limit: int = 50
    cursor: str | None = None
    """`nextCursor` of the answer before: the list goes on from there (`siftd.wire.cursors`)."""


class Related(Request[RelatedAnswer], frozen=True, kw_only=True):
    """The links of a memory, with what stands at their other ends. Answers `related`."""

    may_be_global = True

    id: str


class Similar(Request[SimilarAnswer], frozen=True, kw_only=True):
    """The live memories nearest to one in meaning. Answers `similar`."""

    may_be_global = True

    id: str
    limit: int = 5


class MemoryHealth(Request[MemoryHealthAnswer], frozen=True, kw_only=True):
    """The memories as a whole. Answers `health`, and `topics` and `conflicts`, of one label if so."""

    may_be_global = True

    label: str | None = None


class SetConfig(Request[SetConfigAnswer], frozen=True, kw_only=True):
    """Set how this project's searches are weighed, or those under a label; null: no longer.

    Answers `scoring`: each number and whence it is.
    """

    may_be_global = True
    waits_for_log = True

    label: str | None = None
    values: dict[str, float | None] = {}
