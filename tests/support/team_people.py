"""People, devices and items for tests of a team: real invitations, real tokens, items as a laptop would tell them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import msgspec
from postgres import TeamDatabase

from siftd.team.items import Forget, Put, content_hash, document_id
from siftd.team.protocol import Changed, Changes, Join, Push, Pushed, Role
from siftd.team_server.operator import as_owner, ensure_project, invite
from siftd.team_server.store import TeamStore, token_digest

TS = 1_700_000_000_000


@dataclass(frozen=True)
class Seat:
    """A device of a person in a project."""

    store: TeamStore
    project: uuid.UUID
    token: str
    person: uuid.UUID
    device: uuid.UUID
    epoch: uuid.UUID

    @property
    def digest(self) -> bytes:
        return token_digest(self.token)

    def item(self, ref: str, text: str, **others: Any) -> Put:
        return item(self.project, ref, text, **others)

    async def push(self, *items: Put | Forget) -> Pushed:
        return await self.store.push(self.digest, self.project, Push(epoch=self.epoch, items=list(items)))

    async def changes(self, after: int = 0, **others: Any) -> Changes:
        return await self.store.changes(self.digest, self.project, after, **others)

    async def texts(self, after: int = 0) -> list[str]:
        """Return what the feed tells this device, in order; `-` for what is gone."""
        page = await self.changes(after)
        return [each.item.text if isinstance(each, Changed) else "-" for each in page.changes]


def make_project(database: TeamDatabase, name: str = "bank", embedder: str = "hash-384") -> uuid.UUID:
    with as_owner(database.operator) as connection:
        return ensure_project(connection, name, embedder)


async def seat(
    store: TeamStore, database: TeamDatabase, person: str, role: Role = "writer", project: str = "bank"
) -> Seat:
    """Invite a person to a project, and let a device of theirs join."""
    with as_owner(database.operator) as connection:
        code = invite(connection, ensure_project(connection, project, "hash-384"), person, role).code
    joined = await store.join(Join(invite=code, device=f"{person.lower()}-laptop", store=uuid.uuid4()))
    return Seat(store, joined.project.id, joined.token, joined.person.id, joined.device, joined.epoch)


def item(project: uuid.UUID, ref: str, text: str, *, source: Any = "memory", rev: int = 1, **others: Any) -> Put:
    """Return an item whose id and hash are right."""
    put = Put(
        id=document_id(project, source, ref), rev=rev, hash="0" * 64, source=source, source_ref=ref, text=text,
        ts=others.pop("ts", TS), **others,
    )  # fmt: skip
    return msgspec.structs.replace(put, hash=content_hash(put))
