"""Pods: the few places from which an agent is handed facts, each with slots of its own.

    directive  5 slots  standing instructions: what a person pinned, always
    vital      6        what a person said and gave importance 5, always
    playbook   3        a named procedure of facts and commands, while its name stands in what is asked
    session    6        what was said in the session that asks, live
    person     4        a person's preferences, while one of them was used or said within 24 hours; private
    project    4        what is known of the project that asks

A pod needs no row to stand: these rules find its facts. A row names a playbook, adds members, leaves some out, or
archives the pod. Which facts stand in which slot is `siftd.facts.blending`; nothing here reads a store.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

PodType = Literal["directive", "vital", "playbook", "session", "person", "project"]
Role = Literal["fact", "command", "left out"]
State = Literal["holds", "waits", "superseded", "expired", "not yet", "archived"]

SLOTS: dict[PodType, int] = {"directive": 5, "vital": 6, "playbook": 3, "session": 6, "person": 4, "project": 4}
"""In the order in which they are filled: what binds comes first, what is asked for by name next."""
ROLES: tuple[Role, ...] = get_args(Role)
NAMED: tuple[PodType, ...] = ("playbook", "session", "person", "project")
"""Types of which there are several, told apart by their external id. Of the others there is one: a second `vital`
would have six slots more, until everything is vital."""
FACTS_MAX = 20
CHARS_MAX = 4_800
VITAL_IMPORTANCE = 5
PERSON_ACTIVE_MS = 24 * 3_600_000
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact as far as pods look at it."""

    id: str
    """As it is cited: m3, or g3 of those for every project."""
    text: str
    project: str
    """The key of the workspace whose store holds it."""
    category: str = "fact"
    importance: int = 3
    said_by: str = "agent"
    session: str = ""
    state: State = "holds"
    is_pinned: bool = False
    is_confirmed: bool = False
    """Whether a person confirmed it, who had not said it."""
    is_of_session: bool = False
    """Whether it is no more than what one session said, until that session has ended."""
    said_ts: int = 0
    """When it was said, or changed last."""
    used_ts: int | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A fact that somebody put into a pod, or out of it."""

    fact: str
    role: Role = "fact"


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod, of a row or of the rules alone."""

    type: PodType
    external_id: str = ""
    title: str = ""
    is_archived: bool = False
    members: tuple[Member, ...] = field(default=())
    """In the order of a procedure's steps."""

    @property
    def key(self) -> str:
        """How it is cited. Who asks sees one project's: its key tells a person nothing."""
        return f"{self.type}:{self.external_id}" if self.external_id and self.type != "project" else self.type

    def role_of(self, fact: str) -> Role | None:
        return next((each.role for each in self.members if each.fact == fact), None)


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, and where. What is empty is nobody, or nowhere: it gives nothing, never everything."""

    project: str
    """The workspace's key, `shared` for the store of what holds in every project."""
    now_ms: int
    shared: str = "_global"
    session: str = ""
    person: str = ""
    about: str = ""
    """What is asked; a playbook is active while its name stands in it."""


def standing_pods(asker: Asker) -> list[Pod]:
    """Return the pods that stand for who asks, without any row."""
    names: dict[PodType, str] = {"session": asker.session, "person": asker.person, "project": asker.project}
    every: list[Pod] = [Pod("directive"), Pod("vital")]
    return every + [Pod(kind, name) for kind, name in names.items() if name]


def with_rows(asker: Asker, rows: Sequence[Pod]) -> list[Pod]:
    """Return the pods of who asks, in the order of filling: those that stand, each with what its row says, and the
    playbooks. A row that is about another session, person or project is not among them."""
    found = {(pod.type, pod.external_id): pod for pod in standing_pods(asker)}
    for row in rows:
        held = found.get(name := (row.type, row.external_id))
        if held is not None or row.type == "playbook":
            found[name] = row if held is None else _joined(held, row)
    order = list(SLOTS)
    return sorted(found.values(), key=lambda pod: (order.index(pod.type), pod.external_id))


def _joined(one: Pod, other: Pod) -> Pod:
    """Return one pod of what stands and a row, or of two stores' rows: the project's, and that for every project."""
    members = (*one.members, *other.members)
    return Pod(other.type, other.external_id, other.title or one.title, one.is_archived or other.is_archived, members)


def reason_for(pod: Pod, fact: Fact) -> str | None:
    """Return why a fact is one of a pod's, None for one that is not. What it says and whether it holds is not asked."""
    role = pod.role_of(fact.id)
    if role == "left out":
        return None
    if pod.type == "vital":  # members too: else a row could make anything vital, or pin it
        return f"importance {VITAL_IMPORTANCE}, {_by_person(fact)}" if _is_vital(fact) else None
    if pod.type == "directive":
        return "pinned" if fact.is_pinned else None
    if role is not None:
        return "a member" if role == "fact" else f"a member, as a {role}"
    match pod.type:
        case "session" if pod.external_id and fact.session == pod.external_id:
            return "said in this session"
        case "person" if fact.category == "preference" and fact.said_by == "person":
            return "a preference of the person's"
        case "project" if pod.external_id and fact.project == pod.external_id and not fact.is_of_session:
            return f"known of the project, importance {fact.importance}"
    return None


def why_not_in(pod: Pod, fact: Fact) -> str | None:
    """Return why a fact that one may look for in a pod is not one of it; None where nobody would."""
    if pod.role_of(fact.id) == "left out":
        return "left out by a person"
    if pod.type == "vital" and fact.importance >= VITAL_IMPORTANCE:
        return f"importance {VITAL_IMPORTANCE}, but no person said or confirmed it"
    if pod.role_of(fact.id) is None:
        return None
    return {"vital": f"a member, but of importance {fact.importance}", "directive": "a member, but not pinned"}.get(
        pod.type
    )


def why_inactive(pod: Pod, facts: list[Fact], asker: Asker) -> str | None:
    """Return why a pod fills no slot now, None for an active one. `facts` are its own."""
    if pod.is_archived:
        return "archived"
    if pod.type == "playbook" and not _is_named(pod, asker.about):
        return "its name does not stand in what is asked"
    if pod.type == "person":
        since = asker.now_ms - PERSON_ACTIVE_MS
        if not any(since < max(fact.said_ts, fact.used_ts or 0) <= asker.now_ms for fact in facts):
            return "none of its facts was said or used in the last 24 hours"
    return None


def private_to_others(rows: Iterable[Pod], asker: Asker) -> set[str]:
    """Return the facts that are members of another person's pod: who asks sees them nowhere."""
    others = (row for row in rows if row.type == "person" and row.external_id != asker.person)
    return {member.fact for row in others for member in row.members if member.role != "left out"}


def slug(name: str) -> str:
    """Return by what a playbook is known: its words, however they are written."""
    return "-".join(_WORD.findall(name.casefold()))


def _is_vital(fact: Fact) -> bool:
    return fact.importance >= VITAL_IMPORTANCE and (fact.said_by == "person" or fact.is_confirmed)


def _by_person(fact: Fact) -> str:
    return "said by a person" if fact.said_by == "person" else "confirmed by a person"


def _is_named(pod: Pod, about: str) -> bool:
    words = _WORD.findall((pod.title or pod.external_id).casefold())
    return bool(words) and set(words) <= set(_WORD.findall(about.casefold()))
