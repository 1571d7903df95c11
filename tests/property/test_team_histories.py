"""Random histories of a team end with everybody seeing the same: two people, three devices, two projects, one server.

What the devices do is drawn: say, change, supersede, forget, make private, stay offline, lose an answer, leave; what
happens to them too: a home is copied, the server is restored from a backup. In the end all talk to the server until
nobody has news. Then what each device shows is what the model says, and what a device that is new would be shown.

The suite tries a few histories on each PostgreSQL; `SIFTD_TEAM_HISTORIES=1000` tries so many.
"""

from __future__ import annotations

import asyncio
import copy
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from postgres import Postgres
from scripted_device import ScriptedDevice
from team_members import StoreWire, Team, team_on

from siftd.team.items import NATURAL, Forget, Put, document_id
from siftd.team_server.refusals import Refused

HISTORIES = int(os.environ.get("SIFTD_TEAM_HISTORIES", "4"))
STEPS_MAX = 40
DEVICES = ("ana-laptop", "ana-desk", "ben-laptop")
PROJECTS = ("north", "south")
REFERENCES = 3
ROUNDS = 4
"""In which everybody has to have everything: own pushed, others' pulled, what was found stale said again, pulled."""
AT_ONCE = 2
"""Items in a push and a page, so that every history has many."""

who = st.integers(0, 7)
"""Which link does it, of those that there are."""
what = st.integers(0, REFERENCES - 1)
step = st.one_of(
    st.tuples(st.just("say"), who, what, st.booleans()),
    st.tuples(st.just("say"), who, what, st.just(False)),
    st.tuples(st.just("issue"), who, what),
    st.tuples(st.just("supersede"), who, what),
    st.tuples(st.just("forget"), who, what),
    st.tuples(st.just("forget_seen"), who, what),
    st.tuples(st.just("push"), who),
    st.tuples(st.just("pull"), who),
    st.tuples(st.just("sync"), who),
    st.tuples(st.just("lose_answer"), who),
    st.tuples(st.just("copy_home"), who),
    st.tuples(st.just("leave"), who, st.booleans()),
    st.tuples(st.just("back_up")),
    st.tuples(st.just("restore")),
)
Step = tuple[object, ...]


class AnswerLost(Exception):
    """The server has done it, and nobody has heard."""


@dataclass
class Link:
    """A device in a project."""

    name: str
    person: str
    project: str
    wire: StoreWire
    device: ScriptedDevice
    has_left: bool = False


@dataclass
class World:
    """A team and its devices."""

    team: Team
    links: list[Link] = field(default_factory=list)
    said: int = 0
    """Of natural keys: the time at which they were changed."""
    unknown: set[uuid.UUID] = field(default_factory=set)
    """Items of somebody who left: whether they are there depends on how, and on the backup."""

    async def begin(self) -> None:
        for name in DEVICES:
            person = name.partition("-")[0]
            for project in PROJECTS:
                joined, wire = await self.team.join(person, project, name)
                device = ScriptedDevice(joined.project.id, joined.epoch, wire, name)
                self.links.append(Link(name, person, project, wire, device))

    async def take(self, step: Step) -> None:
        kind, *rest = step
        if kind == "back_up":
            await self.team.back_up()
        elif kind == "restore":
            await self.team.restore()
        else:
            number, *how = rest
            assert isinstance(number, int)
            link = self.links[number % len(self.links)]
            if not link.has_left:
                await getattr(self, f"_{kind}")(link, *how)

    async def _say(self, link: Link, reference: int, is_private: bool) -> None:
        self.said += 1
        link.device.put(self._own(link, reference), f"{link.name} said {self.said}", visibility=_visible(is_private))

    async def _issue(self, link: Link, reference: int) -> None:
        """Somebody reads an issue again from where it is kept: whoever saw it last is right."""
        self.said += 1
        put = link.device.put(f"#{reference}", f"issue as of {self.said}", source="issue", rev=self.said)
        assert put.rev == self.said

    async def _supersede(self, link: Link, reference: int) -> None:
        self.said += 1
        old = link.device.own.get(document_id(link.device.project, "memory", self._own(link, reference)))
        if isinstance(old, Put):
            new = link.device.put(f"{link.name}-new-{self.said}", f"{link.name} corrects {self.said}")
            link.device.put(
                old.source_ref, old.text, visibility=old.visibility, superseded_by=new.id, valid_to=self.said
            )

    async def _forget(self, link: Link, reference: int) -> None:
        identity = document_id(link.device.project, "memory", self._own(link, reference))
        if isinstance(link.device.own.get(identity), Put):
            link.device.forget(identity)

    async def _forget_seen(self, link: Link, place: int) -> None:
        """Forget what one's other device said."""
        seen = sorted(
            each for each, change in link.device.replica.items()
            if change.author.name == link.person and change.item.source not in NATURAL and each not in link.device.own
        )  # fmt: skip
        if seen:
            identity = seen[place % len(seen)]
            link.device.own[identity] = Forget(id=identity, rev=link.device.replica[identity].item.rev + 1)
            link.device.dirty.add(identity)

    async def _push(self, link: Link) -> None:
        await link.device.push(AT_ONCE)

    async def _pull(self, link: Link) -> None:
        await link.device.pull(AT_ONCE)

    async def _sync(self, link: Link) -> None:
        await self._push(link)
        await self._pull(link)

    async def _lose_answer(self, link: Link) -> None:
        link.wire.loses = AnswerLost
        try:
            await link.device.push(AT_ONCE)
        except AnswerLost:
            pass
        finally:
            link.wire.loses = None

    async def _copy_home(self, link: Link) -> None:
        """Both go on, each for the only one."""
        if len(self.links) < len(DEVICES) * len(PROJECTS) + 2:
            device = copy.copy(link.device)
            device.own, device.dirty, device.replica = dict(device.own), set(device.dirty), dict(device.replica)
            device.parked, device.applied = dict(device.parked), list(device.applied)
            self.links.append(Link(link.name, link.person, link.project, link.wire, device))

    async def _leave(self, link: Link, forgets_shared: bool) -> None:
        """A device leaves, and its copies do. Somebody stays."""
        stay = {each.name for each in self.links if each.project == link.project and not each.has_left}
        if stay == {link.name}:
            return
        await link.wire.leave(forgets_shared)
        for each in self.links:
            if each.project == link.project and each.person == link.person:
                self.unknown |= set(each.device.own)
                each.has_left = each.has_left or each.name == link.name

    @staticmethod
    def _own(link: Link, reference: int) -> str:
        return f"{link.name}-{reference}"

    # The end

    async def settle(self) -> None:
        for _ in range(ROUNDS):
            for link in self.links:
                if not link.has_left:
                    await self._sync(link)

    def expected(self, project: str, person: str) -> dict[uuid.UUID, str]:
        """Return what a person is to see of a project, by what the devices that stayed have said."""
        told: dict[uuid.UUID, tuple[Put | Forget, str]] = {}
        for link in self.links:
            if link.project != project or link.has_left:
                continue
            for identity, item in link.device.own.items():
                known = told.get(identity)
                if known is None or _weight(item) > _weight(known[0]):
                    told[identity] = (item, link.person)
        return {
            identity: item.text
            for identity, (item, author) in told.items()
            if isinstance(item, Put)
            and (item.visibility == "project" or author == person)
            and identity not in self.unknown
        }


def _weight(item: Put | Forget) -> tuple[bool, int]:
    return isinstance(item, Forget), item.rev


def _visible(is_private: bool) -> str:
    return "private" if is_private else "project"


async def run(postgres: Postgres, history: Sequence[Step]) -> None:
    async with team_on(postgres, projects=PROJECTS, sources=("issue",)) as team:
        world = World(team)
        await world.begin()
        for each in history:
            await world.take(each)
        await world.settle()
        for link in world.links:
            if link.has_left:
                if not team.was_restored:
                    with pytest.raises(Refused):
                        await link.device.pull()
                continue
            assert link.device.parked == {}, link.name
            assert link.device.dirty == set(), link.name
            newcomer = ScriptedDevice(link.device.project, link.device.epoch, link.wire)
            await newcomer.pull()
            assert link.device.texts == newcomer.texts, f"{link.name} shows what a new device would be shown"
            known = {each: text for each, text in link.device.texts.items() if each not in world.unknown}
            assert known == world.expected(link.project, link.person), link.name
            assert sorted(set(link.device.applied)) == link.device.applied, "each place of the feed once, in order"


@settings(max_examples=HISTORIES, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(history=st.lists(step, max_size=STEPS_MAX))
def test_everybody_sees_the_same_in_the_end(postgres: Postgres, history: list[Step]) -> None:
    asyncio.run(run(postgres, history))
