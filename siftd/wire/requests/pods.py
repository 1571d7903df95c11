"""Pods: from where an agent is handed facts, and which stand in them (`siftd.facts.pods`)."""

from __future__ import annotations

from typing import TypedDict

from siftd.wire.requests.request import Request


class PodFact(TypedDict):
    """A fact of a pod: why it stands there, or why it does not."""

    id: str
    """As it is cited: m3, or g3 of those for every project."""
    text: str
    category: str
    importance: int
    saidBy: str
    ts: int
    why: str
    slot: int | None
    """None for one that is left out."""


class PodListed(TypedDict):
    """A pod without its facts."""

    pod: str
    """As it is cited: vital, playbook:release."""
    type: str
    title: str
    slots: int
    filled: int
    members: int
    """Facts that somebody put into it."""
    inactive: str | None
    """Why it fills no slot; null for an active one."""


class PodShown(PodListed):
    """A pod with the facts that stand in it."""

    facts: list[PodFact]
    leftOut: list[PodFact]
    """The first that do not stand in it; empty where no explanation was asked for."""
    leftOutMore: int


class PodMember(TypedDict):
    """A fact that somebody put into a pod, or out of it."""

    id: str
    role: str


class PodWhole(PodShown):
    """A pod with its members."""

    memberFacts: list[PodMember]


class ContextAnswer(TypedDict):
    """What an agent is handed."""

    facts: int
    factsMax: int
    chars: int
    charsMax: int
    pods: list[PodShown]


class Context(Request[ContextAnswer], frozen=True, kw_only=True):
    """The facts that an agent is handed here, pod by pod.

    `session` is the id of who asks, or how it begins; `about` what is asked: it brings up the playbooks that it names.
    `explain` adds to each pod what is left out of it, and why.
    """

    waits_for_log = True

    session: str | None = None
    about: str = ""
    explain: bool = False


class PodsAnswer(TypedDict):
    """The pods of who asks."""

    pods: list[PodListed]


class Pods(Request[PodsAnswer], frozen=True, kw_only=True):
    """The pods of who asks, without their facts."""

    waits_for_log = True

    session: str | None = None
    about: str = ""


class PodAnswer(TypedDict):
    """One pod."""

    pod: PodWhole


class Pod(Request[PodAnswer], frozen=True, kw_only=True):
    """One pod, as it is cited (`vital`, `project`, `playbook:release`), with its facts and members."""

    waits_for_log = True

    pod: str
    session: str | None = None
    about: str = ""


class CreatePodAnswer(TypedDict):
    """A pod that is there now."""

    pod: str
    isNew: bool
    members: int
    """Facts that were put in place."""


class CreatePod(Request[CreatePodAnswer], frozen=True, kw_only=True):
    """Make a pod's row, unless it is there, and put the facts `ids` into it, as `role`: fact, command or left out.

    Of playbooks there are as many as there are names; of the other types each person, session and project has one.
    """

    changes_brief = True
    may_be_global = True
    waits_for_log = True

    type: str
    name: str = ""
    ids: list[str] = []
    role: str = "fact"
    project: bool = True
    """False: for every project (`siftd.wire.global_routing`)."""


class ArchivePodAnswer(TypedDict):
    """A pod and its state."""

    pod: str
    status: str


class ArchivePod(Request[ArchivePodAnswer], frozen=True, kw_only=True):
    """Let a pod fill no slot any more; with `undo`, let it again."""

    changes_brief = True
    may_be_global = True
    waits_for_log = True

    pod: str
    undo: bool = False
    project: bool = True
    """As above."""
