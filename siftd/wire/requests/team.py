"""A workspace's team: joining, what goes up and comes down, who is there, leaving."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from siftd.filters import Source
from siftd.wire.requests.request import Request

PAGE_MAX = 100
"""Items in one answer."""


class TeamLine(TypedDict):
    """The team in a few words, as it is known here: nobody is asked."""

    name: str
    url: str
    problem: str | None
    """Why nothing goes up or comes down any more."""
    awaySince: int | None
    """Since when its server has not answered."""
    waiting: int
    waitingSince: int | None
    parked: int
    pulledTs: int | None


class TeamPreviewAnswer(TypedDict):
    """What would go up: how much of each kind, how much of it for the person alone, how many characters."""

    server: str | None
    """The version of the server, where one was named."""
    url: str | None
    device: str
    share: list[str]
    byShare: dict[str, int]
    private: int
    chars: int


class TeamItemsAnswer(TypedDict):
    """The very items, as they would go up; `next` is asked for as `after` until it is null."""

    items: list[dict[str, Any]]
    next: str | None


class TeamJoinAnswer(TypedDict):
    """What was joined, as whom."""

    project: str
    name: str
    person: str
    waiting: int


class TeamLeaveAnswer(TypedDict):
    """How many items the server forgot."""

    name: str
    forgotten: int


class TeamPushAnswer(TypedDict):
    """How many items the server took, forgot, did not take; how many it had; how many wait still."""

    put: int
    forgotten: int
    parked: int
    unchanged: int
    waiting: int


class TeamPullAnswer(TypedDict):
    """How many items came or changed, how many went."""

    changed: int
    gone: int


class TeamDevice(TypedDict):
    """A device and how far it has come."""

    name: str
    person: str
    seq: int
    seenAt: int | None
    isThis: bool


class TeamMember(TypedDict):
    """A person of the project."""

    name: str
    role: str
    disabled: bool


class TeamMembersAnswer(TypedDict):
    """Who is in the project, as its server says; `used`: items of each source that were ever shared there."""

    project: str
    head: int
    members: list[TeamMember]
    devices: list[TeamDevice]
    used: dict[str, int]


class TeamParked(TypedDict):
    """Something that the server does not take, and why."""

    name: str
    kind: str
    reason: str
    since: int


class TeamForget(TypedDict):
    """A forgetting that not every device is known to have applied; `behind` names those that have not, with the time at
    which each was seen last."""

    items: int
    ts: int
    applied: int
    devices: int
    behind: list[tuple[str, int | None]]


class TeamStatusAnswer(TypedDict):
    """Everything about the team of this workspace. `members` is null where its server does not answer."""

    team: TeamLine | None
    project: NotRequired[str]
    person: NotRequired[str]
    device: NotRequired[str]
    share: NotRequired[list[str]]
    joinedTs: NotRequired[int]
    pushedTs: NotRequired[int | None]
    lastError: NotRequired[str | None]
    shared: NotRequired[dict[str, int]]
    """Of this store, by source."""
    replica: NotRequired[dict[str, int]]
    """Of others, by source."""
    replicaBytes: NotRequired[int]
    seq: NotRequired[int]
    parked: NotRequired[list[TeamParked]]
    forgetsWaiting: NotRequired[int]
    """Items that were forgotten here, which the server does not know of yet."""
    forgets: NotRequired[list[TeamForget]]
    members: NotRequired[TeamMembersAnswer | None]


class TeamPreview(Request[TeamPreviewAnswer], frozen=True, kw_only=True):
    """Look what would go up, and whether the server at `url` is one. Nothing of the workspace leaves the machine."""

    url: str | None = None
    share: list[str] | None = None


class TeamItems(Request[TeamItemsAnswer], frozen=True, kw_only=True):
    """List the very items that would go up."""

    share: list[str] | None = None
    after: str = ""
    limit: Annotated[int, Meta(ge=1, le=PAGE_MAX)] = PAGE_MAX


class TeamJoin(Request[TeamJoinAnswer], frozen=True, kw_only=True):
    """Take an invitation to a project up."""

    url: str
    project: str
    invite: str
    device: str = ""
    share: list[str] | None = None


class TeamLeave(Request[TeamLeaveAnswer], frozen=True, kw_only=True):
    """Leave the team, and take the replica away. `forget_shared`: what this person shared goes there too. `force`: also
    where the server does not answer."""

    forget_shared: bool = False
    force: bool = False


class TeamPush(Request[TeamPushAnswer], frozen=True, kw_only=True):
    """Send now what waits; with `all` everything that is shared is looked at, and what was parked is tried again."""

    all: bool = False


class TeamPull(Request[TeamPullAnswer], frozen=True, kw_only=True):
    """Take now what is there; a team that was stopped goes on where its server answers."""


class TeamMembers(Request[TeamMembersAnswer], frozen=True, kw_only=True):
    """List who is in the project, and how far each device has come."""


class TeamFound(TypedDict):
    """An item that the team's server found: with the number that it has here (t12), where the replica has it."""

    id: str
    source: str
    text: str
    author: str
    ts: int
    metadata: dict[str, Any]
    ranks: dict[str, int]
    """Its place by each way of finding."""


class TeamSearchAnswer(TypedDict):
    """What the team's server found, best first; which strategy answered, and what was missing."""

    found: list[TeamFound]
    strategy: str
    degraded: str | None


class TeamSearch(Request[TeamSearchAnswer], frozen=True, kw_only=True):
    """Ask the team's server, and not the replica: what is asked leaves the machine, redacted."""

    query: Annotated[str, Meta(min_length=1, max_length=10_000)]
    k: Annotated[int, Meta(ge=1, le=100)] = 10
    sources: list[Source] = []
    strategy: Literal["semantic", "keyword", "hybrid", "graph"] = "hybrid"


class TeamStatus(Request[TeamStatusAnswer], frozen=True, kw_only=True):
    """Tell how it stands with the team. `ask`: ask its server who has applied what, for some seconds at most."""

    ask: bool = True
