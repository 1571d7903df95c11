"""A team on a real PostgreSQL: its people and projects, and each device's way to the store, without HTTP in between."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import psycopg
from postgres import Postgres, TeamDatabase, drop_database, make_database, make_team_database

from siftd.team.items import Source
from siftd.team.protocol import Changes, Join, Joined, Leave, Left, Push, Pushed, Role
from siftd.team_server.operator import as_owner, ensure_project, invite
from siftd.team_server.store import TeamStore

EMBEDDER = "hash-384"


class StoreWire:
    """One device's calls of the store, with its token."""

    def __init__(self, team: Team, token: str, project: uuid.UUID) -> None:
        self._team = team
        self.digest = hashlib.sha256(token.encode()).digest()
        self.project = project
        self.loses: type[Exception] | None = None
        """What happens to the answer of a push that was done."""

    async def push(self, asked: Push) -> Pushed:
        pushed = await self._team.store.push(self.digest, self.project, asked)
        if self.loses is not None:
            raise self.loses
        return pushed

    async def changes(self, after: int, limit: int, applied: int) -> Changes:
        return await self._team.store.changes(self.digest, self.project, after, limit, applied)

    async def leave(self, forgets_shared: bool) -> Left:
        return await self._team.store.leave(self.digest, self.project, Leave(forget_shared=forgets_shared))


class Team:
    """People and projects in one database, which may be set back to what it was."""

    def __init__(self, database: TeamDatabase) -> None:
        self.database = database
        self.store: TeamStore
        self.was_restored = False
        self._backup: TeamDatabase | None = None

    async def open(self) -> None:
        self.store = TeamStore(self.database.app)
        await self.store.open()

    async def close(self) -> None:
        await self.store.close()

    async def join(
        self, person: str, project: str, device: str, *, role: Role = "writer", embedder: str = EMBEDDER
    ) -> tuple[Joined, StoreWire]:
        """Invite a person and take the invitation up on a device."""
        with as_owner(self.database.operator) as owner:
            identity = ensure_project(owner, project, embedder)
            code = invite(owner, identity, person, role).code
        joined = await self.store.join(Join(invite=code, device=device, store=uuid.uuid4()))
        return joined, StoreWire(self, joined.token, identity)

    def switch_on(self, project: str, source: Source) -> None:
        with as_owner(self.database.operator) as owner:
            owner.execute(
                "INSERT INTO sources (project_id, source, is_on) SELECT id, %s, true FROM projects WHERE name = %s"
                " ON CONFLICT (project_id, source) DO UPDATE SET is_on = true",
                (source, project),
            )

    async def back_up(self) -> None:
        """Keep the database as it is now, instead of what was kept before."""
        if self._backup is not None:
            drop_database(self._backup)
        await self.close()
        self._backup = make_database(self.database.server, template=self.database.name)
        await self.open()

    async def restore(self) -> None:
        """Go on with what was kept, under a new epoch; nothing where nothing was."""
        if self._backup is None:
            return
        await self.close()
        self.was_restored = True
        drop_database(self.database)
        self.database = make_database(self.database.server, template=self._backup.name)
        with psycopg.connect(self.database.superuser) as connection:
            connection.execute("UPDATE siftd.meta SET value = gen_random_uuid()::text WHERE key = 'epoch'")
        await self.open()

    async def end(self) -> None:
        await self.close()
        for each in (self.database, self._backup):
            if each is not None:
                drop_database(each)


@asynccontextmanager
async def team_on(
    postgres: Postgres, *, projects: Sequence[str] = ("north",), sources: Sequence[Source] = ()
) -> AsyncIterator[Team]:
    """Give a team with projects in a database of its own."""
    team = Team(make_team_database(postgres))
    await team.open()
    try:
        with as_owner(team.database.operator) as owner:
            for each in projects:
                ensure_project(owner, each, EMBEDDER)
        for each in projects:
            for source in sources:
                team.switch_on(each, source)
        yield team
    finally:
        await team.end()
