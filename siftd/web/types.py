"""What the routes take and give, as far as it is not the socket's own (`siftd.wire.requests`).

The description that programs read (`openapi.py`) is made from these. Keys are camelCase; moments are milliseconds since
1970. What is not known is refused: a misspelt filter would answer too much.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from siftd.facts.model import Category
from siftd.filters import Moment
from siftd.wire.requests import FactStoryAnswer, Injection, StatsPart

encode = msgspec.json.Encoder().encode

Page = Annotated[int, msgspec.Meta(ge=1, le=500)]
Walked = Annotated[int, msgspec.Meta(ge=1, le=100)]
Around = Annotated[int, msgspec.Meta(ge=0, le=500)]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=100_000)]
Short = Annotated[str, msgspec.Meta(max_length=1_000)]
Cited = Annotated[str, msgspec.Meta(pattern=r"^#?[esmgtESMGT]?[0-9]{1,18}$")]
Importance = Annotated[int, msgspec.Meta(ge=1, le=5)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Strategy = Literal["hybrid", "words", "meaning"]
Kind = Literal["summary", "event", "memory", "tool", "prompt", "stop", "text", "failure", "document"]
TeamSource = Literal["fact", "knowledge", "note", "issue", "comment", "job", "decision", "policy"]
"""What only a team has, or tells apart."""
Source = Literal[Kind, TeamSource]


class Given(msgspec.Struct, rename="camel", forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Whatever a caller gives."""


class Problem(msgspec.Struct, frozen=True):
    """Why something was refused: a code for programs, a sentence and a remedy for people."""

    code: str
    message: str
    hint: str


class ProblemAnswer(msgspec.Struct, frozen=True):
    """A refusal."""

    error: Problem


class NoQuery(Given, frozen=True, kw_only=True):
    """Nothing is asked beyond the path."""


class HealthAnswer(msgspec.Struct, frozen=True):
    """The process listens. Nothing else is said to whoever has no token."""

    ok: bool


class Project(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """A workspace of this home, as far as it can be told without starting its daemon."""

    id: str
    """Its key, for the other routes; `_global` keeps the memories for every project."""
    root: str | None
    """Its folder; null: not known."""
    name: str
    """The folder's last part."""
    events: int | None
    state: Literal["running", "asleep", "busy", "other_version", "gone", "broken"]
    """Its daemon's; gone: the folder is; broken: its database cannot be read."""
    version: str | None
    """Of a daemon that answers."""
    problem: str | None


class ProjectsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Every workspace that has a memory in this home, and which siftd serves this."""

    projects: list[Project]
    version: str


class SearchQuery(Given, frozen=True, kw_only=True):
    """What to find. With a filter an empty `q` gives the latest."""

    q: Annotated[str, msgspec.Meta(max_length=10_000)] = ""
    k: Annotated[int, msgspec.Meta(ge=1, le=200)] = 10
    strategy: Strategy = "hybrid"
    source: Source | None = None
    team: bool | None = None
    """What the team shares alone, or nothing of it; both where nothing is said."""
    as_of: Moment | None = None
    explain: bool = True
    """Whether each hit says what found it, and what its score is made of."""
    tool: Short | None = None
    session: Short | None = None
    client: Short | None = None
    file: Short | None = None
    symbol: Short | None = None
    type: Short | None = None
    since: Moment | None = None
    until: Moment | None = None
    superseded: bool = False
    group: Literal["session"] | None = None


class TeamQuery(Given, frozen=True, kw_only=True):
    """Whether the team's server is asked who has applied what, for some seconds at most."""

    ask: bool = True


class TeamItemsQuery(Given, frozen=True, kw_only=True):
    """The items that would go up, from the beginning or from `next` of the answer before."""

    after: Short = ""


class ListQuery(Given, frozen=True, kw_only=True):
    """A list, from its beginning or from `nextCursor` of the answer before."""

    limit: Page = 50
    cursor: Short | None = None


class SessionsQuery(ListQuery, frozen=True, kw_only=True):
    """Sessions, newest first."""

    limit: Page = 20
    client: Short | None = None


class TimelineQuery(Given, frozen=True, kw_only=True):
    """What happened around an event or a summary, or last, in a session or in all."""

    around: Cited | None = None
    session: Short | None = None
    client: Short | None = None
    before: Around = 10
    after: Around = 10
    cursor: Short | None = None


class MemoriesQuery(ListQuery, frozen=True, kw_only=True):
    """Memories that hold now, or held then."""

    type: Short | None = None
    tag: Short | None = None
    since: Moment | None = None
    until: Moment | None = None
    as_of: Moment | None = None
    pinned: bool = False
    waiting: bool = False
    superseded: bool = False


class InjectionsQuery(ListQuery, frozen=True, kw_only=True):
    """What agents were given, newest first."""

    session: Short | None = None


class StatsQuery(Given, frozen=True, kw_only=True):
    """Figures of the last days that had any events."""

    days: Annotated[int, msgspec.Meta(ge=1, le=3660)] = 30
    part: StatsPart | None = None
    """What alone is wanted: the rest is empty, and sooner."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to say about one link of the chain from a tool call to a search, and what to do."""

    link: str
    state: Literal["ok", "note", "problem"]
    message: str
    remedy: str | None


class DoctorAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """As `mem doctor --json`, in the order in which a tool call passes the links; `ok`: none is a problem."""

    ok: bool
    checks: list[Check]


class GraphQuery(Given, frozen=True, kw_only=True):
    """How many steps deep."""

    depth: Annotated[int, msgspec.Meta(ge=0, le=8)] = 3


class EntitiesQuery(Given, frozen=True, kw_only=True):
    """Entities by a name, an older name, or words; without a `q` those that most hangs on."""

    q: Annotated[str, msgspec.Meta(max_length=10_000)] = ""
    type: Short | None = None
    limit: Walked = 10


class EntityQuery(Given, frozen=True, kw_only=True):
    """An entity, by id (x3), name, or a question that holds its name."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]
    as_of: Moment | None = None
    limit: Walked = 20


class WalkQuery(Given, frozen=True, kw_only=True):
    """From where to walk along which relations; with `target` the way there. Entities are given by id or name."""

    start: Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]
    target: Short | None = None
    action: Literal["neighbors", "path", "related"] = "neighbors"
    relation: Short | None = None
    direction: Literal["both", "out", "in"] = "both"
    depth: Annotated[int, msgspec.Meta(ge=1, le=6)] = 2
    limit: Walked = 20
    as_of: Moment | None = None
    history: bool = False


class WhyAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """To whom a piece was given and why; of a memory also what says it and what came of it."""

    injections: list[Injection]
    story: FactStoryAnswer | None


class ItemAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One thing whole: `kind` is event, summary or memory; the rest is as `show` of the socket has it."""

    item: dict[str, Any]


class Note(Given, frozen=True, kw_only=True):
    """A statement to keep. What a program pins waits for a person."""

    text: Text
    type: Category = "fact"
    tags: Annotated[list[Short], msgspec.Meta(max_length=32)] = []
    source: Literal["note"] = "note"
    source_ref: Short | None = None
    """Where it comes from, in the caller's own words: kept as its label, and searched by it."""
    importance: Importance = 3
    confidence: Share | None = None
    pin: bool = False
    valid_from: Moment | None = None
    valid_until: Moment | None = None


class NoteAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The memory, and those that say nearly the same."""

    id: str
    duplicate: bool
    """It is kept already."""
    waits: bool
    """For a person's word: until then it stands for nothing."""
    similar: list[str]


class NewText(Given, frozen=True, kw_only=True):
    """What holds in the place of a memory, which stays as history. What is not given is inherited."""

    id: Cited
    text: Text
    type: Category | None = None
    tags: Annotated[list[Short], msgspec.Meta(max_length=32)] | None = None
    importance: Importance | None = None
    pin: bool | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None


class Change(Given, frozen=True, kw_only=True):
    """Fields of a memory to change; what is not given stays."""

    id: Cited
    type: Category | None = None
    tags: Annotated[list[Short], msgspec.Meta(max_length=32)] | None = None
    importance: Importance | None = None
    pin: bool | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None


class ChangeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The memory, and the names of what was changed."""

    id: str
    changed: list[str]
    waits: bool


class Feedback(Given, frozen=True, kw_only=True):
    """A word on a memory: it holds, or it holds no more and is given to nobody."""

    id: Cited
    verdict: Literal["confirmed", "outdated"]


class CitedBody(Given, frozen=True, kw_only=True):
    """One thing by its id."""

    id: Cited


class Muting(Given, frozen=True, kw_only=True):
    """An event, or a summary of it."""

    id: Cited
    muted: bool = True


class ForgetQuery(Given, frozen=True, kw_only=True):
    """Which project, and what the answer before said with its 409."""

    project: Short
    confirm: Short | None = None


class ForgetBody(Given, frozen=True, kw_only=True):
    """What to forget: ids, or a session, a file, a text, or a span of time alone."""

    ids: Annotated[list[Cited], msgspec.Meta(max_length=500)] = []
    session: Short | None = None
    file: Short | None = None
    query: Short | None = None
    since: Moment | None = None
    until: Moment | None = None
    confirm: Short | None = None
    """Of the answer before: what was shown there is what goes."""


class ToForget(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """What would go, by kind, and the value that says yes to exactly that, for five minutes."""

    error: Problem
    confirm: str
    matched: int
    by_kind: dict[str, int]
    left: list[str]
    """What holds the text and stays."""


class JobAnswer(msgspec.Struct, rename="camel", kw_only=True):
    """Long work, and how far it is."""

    id: str
    kind: Literal["reindex"]
    project: str
    state: Literal["running", "done", "failed"]
    done: int
    total: int | None
    """Null: not known yet."""
    answer: dict[str, Any] | None
    """Once it is done."""
    error: Problem | None
    """Once it has failed."""


class CodeAnswer(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """A code that logs one page in, once, within a minute."""

    code: str
    expires_in_seconds: int


class TokenAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A page's own token."""

    token: str


class EndAnswer(msgspec.Struct, frozen=True):
    """The process ends."""

    ended: bool
