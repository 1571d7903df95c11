"""The messages between a laptop and a team's server: JSON over HTTPS, `Authorization: Bearer TOKEN`.

    GET  /api/v1/hello                                       Hello (no token: the version alone)
    POST /api/v1/join                       Join             Joined (an invitation in the body, no token)
    POST /api/v1/projects/ID/push           Push             Pushed
    GET  /api/v1/projects/ID/changes?after=SEQ&limit=N&wait=SECONDS&applied=SEQ       Changes
    GET  /api/v1/projects/ID/members                         Members
    POST /api/v1/projects/ID/leave          Leave            Left
    POST /api/v1/projects/ID/device         Renew            Joined

A refusal is `{"error": {"code", "message", "hint"}}` with a status that says what to do: 400 the message is wrong,
401 the token is none, expired or revoked, 403 no member or not allowed, 404 no such project, 409 behind (ask the
primary) or another epoch, 413 too large, 426 another version, 429 and 503 later (`Retry-After`).

Version 1. Fields may be added; a reader skips those that it does not know. `hello` gives the versions that a server
speaks: outside of them a laptop pulls nothing new, pushes nothing, and says so in one line.
"""

from __future__ import annotations

import uuid
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from siftd.team.items import Forget, Moment, Put, Rev, Source

VERSION = 1
VERSION_MIN = 1
ITEMS_MAX = 500
"""In one push, and in one page of changes."""
BODY_BYTES_MAX = 4 * 1024 * 1024
WAIT_SECONDS_MAX = 25
TOKEN_BYTES = 32

Role = Literal["reader", "writer", "admin"]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
"""A place in the feed, or how many of something: what SQLite and PostgreSQL can keep."""
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Secret = Annotated[str, Meta(min_length=32, max_length=128)]
Why = Literal["older", "forgotten", "not yours", "conflict", "too large", "malformed", "secret", "source off", "reader"]
"""Why an item was not taken: the server has a later telling; it was forgotten for good; another person wrote it; this
device told another text under this rev before (its home was copied); it is too large; its id or its hash is not that of
what it says, or it holds a zero character, which PostgreSQL cannot keep, or is nested too deep; the server's redactor
found something; its source is not switched on; its sender may only read."""


class Message(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Any message."""


class Hello(Message, frozen=True, kw_only=True):
    """What a server speaks. `epoch` is new after a restore; without a token it is None."""

    version_min: int
    version_max: int
    epoch: uuid.UUID | None = None
    server: str = ""
    """Its version, for people."""


class Join(Message, frozen=True, kw_only=True):
    """An invitation taken up by a device."""

    invite: Secret
    device: Name
    """What people call it."""
    store: uuid.UUID
    """The workspace's store: a copied home is known by it."""


class Project(Message, frozen=True, kw_only=True):
    """A project as its members see it."""

    id: uuid.UUID
    name: str
    embedder: str
    head: Count
    sources: list[Source] = []
    """Those that are switched on besides memories, facts, summaries and knowledge."""


class Person(Message, frozen=True, kw_only=True):
    """A member, by id and name."""

    id: uuid.UUID
    name: str


class Joined(Message, frozen=True, kw_only=True):
    """The token is told once: the server keeps its digest alone."""

    token: str
    device: uuid.UUID
    person: Person
    role: Role
    project: Project
    epoch: uuid.UUID


class Push(Message, frozen=True, kw_only=True):
    """Items of one device, at most ITEMS_MAX. `epoch` is the one that the device knows."""

    epoch: uuid.UUID
    items: list[Put | Forget]


class Ignored(Message, frozen=True, kw_only=True):
    """An item that was not taken, and what the server has in its place."""

    id: uuid.UUID
    why: Why
    rev: Rev | None = None
    hash: str | None = None


class Pushed(Message, frozen=True, kw_only=True):
    """What became of a push. The rest of its items was taken; pushing the same again changes nothing."""

    head: Count
    put: Count
    forgotten: Count
    ignored: list[Ignored] = []


class Changed(Message, frozen=True, kw_only=True, tag_field="op", tag="put"):
    """An item of the feed. `author` and `device` are the server's word, never the sender's."""

    seq: Count
    item: Put
    author: Person
    device: uuid.UUID


class Gone(Message, frozen=True, kw_only=True, tag_field="op", tag="forget"):
    """An item that is to be taken away."""

    seq: Count
    id: uuid.UUID
    at: Moment


class Changes(Message, frozen=True, kw_only=True):
    """A page of the feed: puts and tombstones in one order. More is there while `cursor` is below `head`."""

    epoch: uuid.UUID
    head: Count
    cursor: Count
    """How far the page goes: kept, and asked for as `after`. It is beyond the last change where what follows that one
    is not for this reader."""
    changes: list[Changed | Gone] = []


class Device(Message, frozen=True, kw_only=True):
    """A device and how far it has applied the feed."""

    id: uuid.UUID
    name: str
    person: Person
    seq: Count
    seen_at: Moment | None = None


class Member(Message, frozen=True, kw_only=True):
    """A person of the project."""

    person: Person
    role: Role
    disabled: bool = False


class Members(Message, frozen=True, kw_only=True):
    """Who is in a project, and which of their devices has applied what."""

    project: Project
    members: list[Member]
    devices: list[Device]
    used: dict[str, Count] = {}
    """Items that were ever shared, by source."""


class Renew(Message, frozen=True, kw_only=True):
    """A device whose home was copied becomes another one of the same person, by the token of the first, which goes on:
    the copy, or what it was copied from, still uses it."""

    device: Name
    store: uuid.UUID


class Leave(Message, frozen=True, kw_only=True):
    """`forget_shared`: the person's shared items go too; private ones always go."""

    forget_shared: bool = False


class Left(Message, frozen=True, kw_only=True):
    """How many items went."""

    forgotten: Count
