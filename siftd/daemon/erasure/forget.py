"""Forgetting, from the wish to the last byte: match, count, keep tombstones in the log, erase, tell what holds it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from typing import Any, TypeVar

import structlog

from siftd import ids
from siftd.capture.admission import LAST_TS, Admission
from siftd.clock import Clock
from siftd.config import MS_PER_DAY
from siftd.daemon.erasure import snapshot_file
from siftd.daemon.erasure.purge_files import FilePurger
from siftd.daemon.group_commit import Committer
from siftd.daemon.known_time import KnownTime
from siftd.errors import MatchChanged, NothingFound, RequestInvalid, SiftdError
from siftd.log.recovery import iter_records
from siftd.notes import erasing as notes_erasing
from siftd.notes.erasing import STATEMENT_CHARS_MIN, Wanted, statement_of
from siftd.store import (
    event_ages,
    event_views,
    fact_forgetting,
    forget_citations,
    forget_matching,
    team_outbox,
    team_replica,
)
from siftd.store.access import Database
from siftd.store.connection import reading
from siftd.store.forget_matching import ForgetQuery, Matched
from siftd.store.tombstones import Keys, Tombstones
from siftd.wire.requests import Forget, ForgetAnswer
from siftd.workspace.paths import GLOBAL, WorkspacePaths

log = structlog.get_logger()

T = TypeVar("T")

TEAM_SHOWN = 5
"""Items of others that are named."""


class Forgetter:
    """Forgets in one workspace. The caller sees to it that no batch is summarised meanwhile."""

    def __init__(
        self,
        *,
        paths: WorkspacePaths,
        secret: bytes,
        clock: Clock,
        committer: Committer,
        tombstones: Tombstones,
        admission: Admission,
        keep_days: int | None,
    ) -> None:
        self._paths = paths
        self._keys = Keys(secret)
        self._clock = clock
        self._committer = committer
        self._tombstones = tombstones
        self._admission = admission
        self._keep_days = keep_days
        self._known_time = KnownTime(clock, self._read(event_ages.newest_time))
        self._purger = FilePurger(paths, secret)
        self.pending: list[str] = []
        """What still holds something that is to be forgotten."""

    async def forget(self, request: Forget) -> ForgetAnswer:
        """Return what a wish is about and, unless it is a dry run, forget it."""
        await self._committer.run(lambda _: None)  # what the log alone has is in the database now
        asked = await asyncio.to_thread(self._read, lambda c: query_of(request, c, self._clock.now_ms()))
        records = iter_records(self._paths.wal, holding=forget_matching.needle_of(asked))
        matched = await asyncio.to_thread(self._read, lambda c: forget_matching.match(c, records, asked))
        digest = matched.digest()
        if request.expected not in (None, digest):
            raise MatchChanged("what would be forgotten is no longer what was shown", hint="look at it again")
        wanted = await asyncio.to_thread(self._read, lambda c: self._wanted_of_notes(c, matched, asked))
        noted = await asyncio.to_thread(notes_erasing.find, self._paths, wanted, self._keys.note)
        matched.notes, matched.note_entries = noted.keys, noted.entries
        matched.snapshot_lines = await asyncio.to_thread(snapshot_file.count_held, self._paths, asked)
        if not request.dry_run and (len(matched) or asked.scope != "id"):
            await asyncio.to_thread(snapshot_file.forget, self._paths, asked)
            await self._settle_facts(matched.facts, matched.unquoted)
            await asyncio.to_thread(notes_erasing.announce, self._paths, noted)
            for payload in forget_matching.payloads(matched, asked, self._keys):
                await self._keep("forget", payload)
            await self.finish()
            await self._forget_late_notes(wanted, noted.keys)
            log.info("forgotten", scope=asked.scope, count=len(matched), pending=len(self.pending))
        left = await asyncio.to_thread(self._read, lambda c: forget_matching.list_left(c, asked))
        left += notes_erasing.list_left(noted)
        left += await asyncio.to_thread(self._left_with_others, asked)
        return {
            "matched": len(matched),
            "digest": digest,
            "byKind": matched.by_kind(),
            "pending": self.pending,
            "left": left,
        }

    def _wanted_of_notes(self, connection: Database, matched: Matched, asked: ForgetQuery) -> Wanted:
        """Return what notes may hold of it. To forget a text in what is kept for every project is no wish about the
        notes of each."""
        is_global = self._paths.key == GLOBAL
        cited = forget_citations.cited_as(connection, matched, is_global=is_global)
        said = map(statement_of, forget_citations.facts_say(connection, matched))
        statements = frozenset(each for each in said if len(each) >= STATEMENT_CHARS_MIN)
        text = "" if is_global or not asked.query else forget_matching.folded(asked.query)
        return Wanted(cited, statements, text)

    def _left_with_others(self, asked: ForgetQuery) -> list[str]:
        """Name what others of the team told that holds the text: it is theirs to forget."""
        if not asked.query:
            return []
        text = forget_matching.folded(asked.query)
        found = team_replica.list_holding(self._paths.team_replica, lambda each: text in forget_matching.folded(each))
        named = ", ".join(f"t{number}" for number in found[:TEAM_SHOWN]) + (", …" if len(found) > TEAM_SHOWN else "")
        return [f"what others share with the team ({named}): whoever shared it can forget it"] if found else []

    async def _forget_late_notes(self, wanted: Wanted, known: AbstractSet[str]) -> None:
        """Forget what a sync of the notes has written of it while the rest was matched."""
        late = await asyncio.to_thread(notes_erasing.find, self._paths, wanted, self._keys.note)
        if new := late.keys - known:
            await self._keep("forget", {"scope": "id", "note": sorted(new)})
            await self.finish()

    async def prune(self) -> int:
        """Forget the events that are older than `store.keepDays`; return how many. Raises RequestInvalid without it."""
        if self._keep_days is None:
            raise RequestInvalid("`store.keepDays` is not set: events are kept for ever", hint="set it in config.json")
        return await self._forget_until(self._known_time.now_ms() - self._keep_days * MS_PER_DAY)

    async def count_held(self) -> int:
        """Return how many events are too old by the clock alone: they wait until more than that says so."""
        until = self._clock.now_ms() - (self._keep_days or 0) * MS_PER_DAY
        return await asyncio.to_thread(self._read, lambda c: event_ages.count_until(c, until))

    async def prune_if_due(self) -> None:
        """Forget old events once a day's worth of them is too old."""
        if self._keep_days is not None:
            day_before = self._known_time.now_ms() - (self._keep_days + 1) * MS_PER_DAY
            if await asyncio.to_thread(self._read, lambda c: event_ages.count_until(c, day_before)):
                await self.prune()

    async def finish(self) -> None:
        """Erase what is to be forgotten and still in a file of ours; `pending` then names what holds the rest."""
        if not await asyncio.to_thread(self._purger.is_pending):
            self.pending = []
            return
        try:
            await self._committer.run(lambda _: self._tombstones.reload())
            if await asyncio.to_thread(self._purger.is_active_segment_concerned):
                await self._committer.seal_log()
            self.pending = await asyncio.to_thread(self._purger.erase, self._clock.now_ms())
        except (SiftdError, OSError) as error:
            self.pending = [f"it could not be erased yet ({getattr(error, 'message', type(error).__name__)})"]
        if self.pending:
            log.warning("forget_pending", count=len(self.pending))

    async def _settle_facts(self, gone: Iterable[int], unquoted: Iterable[int]) -> None:
        """Say again, before anything goes, what holds of the facts that stay: what was replaced stays replaced, what a
        person has confirmed stays without the words that go."""
        for payload in await asyncio.to_thread(self._read, lambda c: fact_forgetting.list_verdicts(c, gone)):
            await self._keep("verdict", payload)
        for each in sorted(unquoted):
            said, session_id = await asyncio.to_thread(
                self._read, lambda c, fact_id=each: fact_forgetting.restated(c, fact_id)
            )
            await self._keep("remember", said, session_id)

    async def _keep(self, kind: str, payload: dict[str, Any], session_id: str = "") -> None:
        """Keep a record. Admitted in a thread: thousands of keyed hashes take the redactor half a second."""
        now_ms = self._clock.now_ms()
        intent = await asyncio.to_thread(
            lambda: self._admission.admit_intent(kind, payload, ts=now_ms, session_id=session_id)
        )
        receipt = await self._committer.keep(intent)
        if receipt.error is not None:
            raise receipt.error

    async def _forget_until(self, until: int) -> int:
        count = await asyncio.to_thread(self._read, lambda c: event_ages.count_until(c, until))
        uids = await asyncio.to_thread(self._read, lambda c: event_ages.counted_uids_until(c, until))
        if count:
            # The time alone keeps them from coming back; what is told from its equals by counting stays counted.
            events = await asyncio.to_thread(self._read, lambda c: event_ages.list_events_until(c, until))
            taken = await asyncio.to_thread(self._read, lambda c: fact_forgetting.find_facts_of(c, events))
            await self._settle_facts(taken.gone, taken.unquoted)
            said: dict[str, Any] = {
                "scope": "time",
                "time": True,
                "aged": True,
                "since": 0,
                "until": until,
                "uid": uids,
            }
            facts = [[uid or f"id:{number}", str(number)] for number, uid in taken.gone.items()]
            gone = [uid or f"m{number}" for number, uid in taken.gone.items()]
            # How long this machine keeps things is no wish about what a team has of them.
            await self._committer.run(lambda c: team_outbox.let_go(c, events, gone))
            await self._keep("forget", said | {"memory": facts, "record": sorted(taken.unquoted)})
        await self.finish()
        return count

    def _read(self, work: Callable[[Database], T]) -> T:
        with reading(self._paths.database) as connection:
            return work(connection)


def query_of(request: Forget, connection: Database, now_ms: int) -> ForgetQuery:
    """Return what a request is about. Raises RequestInvalid for one about nothing, or about two things at once."""
    named = [name for name in ("ids", "session", "file", "query") if getattr(request, name)]
    has_time = request.since is not None or request.until is not None
    if len(named) > 1 or (request.ids and has_time):
        raise RequestInvalid("one thing is forgotten at a time", hint="give ids, or a session, a file, a query, a time")
    if not named and not has_time:
        raise RequestInvalid("there is nothing to forget", hint="give ids, or --session, --file, --query, --since")
    if request.ids:
        return _query_of_ids(request.ids, connection, now_ms)
    return ForgetQuery(
        session=_whole_session(request.session, connection) if request.session else None,
        file=request.file,
        query=request.query,
        since=min(max(request.since or 0, 0), LAST_TS),
        until=min(now_ms if request.until is None else request.until, now_ms),
    )


def _query_of_ids(cited: list[str], connection: Database, now_ms: int) -> ForgetQuery:
    """Return the wish for typed ids. A summary stands for its event: alone it would be written again."""
    events, facts, documents = set(), set(), set()
    for text in cited:
        if (document := ids.parse_document(text)) is not None:
            if document.line is not None:
                raise RequestInvalid("a document is forgotten whole", hint=f"`mem forget d{document.number}`")
            documents.add(document.number)
            continue
        kind, number = ids.parse(text)
        if kind == ids.GLOBAL_MEMORY:
            raise RequestInvalid("memories for every project have a daemon of their own", hint="`mem forget` asks it")
        if kind == ids.TEAM:
            raise RequestInvalid(
                "an item of the team's is forgotten by who told it, or by an admin of the team",
                hint=f"`mem mute {ids.cite(kind, number)}` has it given unasked no more here",
            )
        if kind == ids.MEMORY:
            facts.add(number)
        elif kind == ids.EVENT:
            events.add(number)
        elif (summary := event_views.find_summary(connection, number)) is not None:
            events.add(summary["eventId"])
    if not events and not facts and not documents:
        raise NothingFound("there is nothing with this id", hint="`mem timeline` lists ids")
    return ForgetQuery(events=frozenset(events), facts=frozenset(facts), documents=frozenset(documents), until=now_ms)


def _whole_session(session: str, connection: Database) -> str:
    """Return the session that begins like this; one that nobody knows is taken at its word."""
    found = event_views.list_named(connection, session)
    if not found:
        return session
    if len(found) > 1:
        raise RequestInvalid("several sessions begin like this", hint="`mem sessions` lists them")
    return found[0]
