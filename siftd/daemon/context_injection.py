"""What an agent is given unasked: the brief at a session's start, recall for a prompt, and the brief kept in a file.

An agent whose client has no way to give it something at a start is given the brief with a session's first prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
import structlog

from siftd import ids
from siftd.capture.admission import Captured, RedactedEvent, RedactedSessionChange
from siftd.clients.client import Client, Moment
from siftd.clients.registry import client_named
from siftd.daemon.ingest.captures import LARGE_BYTES
from siftd.daemon.pod_access import PodAccess
from siftd.daemon.saved_brief import SavedBrief
from siftd.daemon.searching import SearchAccess
from siftd.daemon.storage import Storage
from siftd.daemon.store_access import StoreAccess
from siftd.errors import SiftdError
from siftd.notes.section import NotesSection
from siftd.store import event_index, injection_ledger, meta, team_reading
from siftd.store.access import Database
from siftd.store.injection_ledger import Injection
from siftd.wire.frames import split_hook
from siftd.wire.requests import Brief, Recall, decode_header

if TYPE_CHECKING:
    from siftd.search.context_block import Given, Piece
    from siftd.search.team_recall import Scored

log = structlog.get_logger()

REST_SECONDS = 0.2
"""Turn ends that come together make one brief. Arbitrary."""
OFFERED = "rules_offered"
"""Where the database notes the last event of which something was offered to be pinned."""
OFFERED_EVENTS_MAX = 5_000
"""The newest events that are looked through while a session's start waits: 4 to 27 ms in recorded sessions."""
NOTICED_MAX = 4
"""Ids in the line for the person: it is one line."""
WARM_AFTER_SECONDS = 0.5
"""The session's own brief goes first: both are read in one thread."""


class ContextInjector:
    """Tells agents what one workspace knows, and keeps the ledger of it."""

    def __init__(self, storage: Storage, store: StoreAccess, searching: SearchAccess, pods: PodAccess) -> None:
        self._storage = storage
        self._store = store
        self._searching = searching
        self._pods = pods
        self._turn = anyio.Lock()
        self._stale = anyio.Event()
        self._saved = SavedBrief(storage.paths)
        self._notes = NotesSection(
            storage.paths.home, lambda text: storage.intake.redactor.text(text), storage.settings.notes_exclude
        )
        self._is_warm = False

    async def answer(self, captured: Captured, is_wanted: Callable[[], bool] = lambda: True) -> dict[str, Any]:
        """Return the fields of the answer to a hook whose event is kept; what cannot be told is nothing, not an error.

        One at a time: a client that is wired twice asks twice at once, and is told once. A hook that has given up
        meanwhile (`is_wanted`) was given nothing, and the ledger does not say so.
        """
        async with self._turn:
            return await self._answer(captured, is_wanted)

    async def answer_hook(self, message: bytes, is_wanted: Callable[[], bool] = lambda: True) -> dict[str, Any]:
        """Return the same for a hook frame marked 02, of a hook that asks apart from handing its event over."""
        read = partial(self._storage.intake.from_hook, message, is_asking=True)
        try:
            captured = read() if len(message) <= LARGE_BYTES else await asyncio.to_thread(read)
        except SiftdError as error:
            log.info("context_skipped", reason=error.code)
            return {}
        return await self.answer(captured, is_wanted)

    async def _answer(self, captured: Captured, is_wanted: Callable[[], bool]) -> dict[str, Any]:
        client = client_named(captured.client)
        moment = _moment_of(captured)
        if moment not in client.moments or moment is None:
            return {}
        offer, given = "", []
        try:
            if moment == "start" or (moment == "prompt" and await self._is_late_start(client, captured.session_id)):
                request = Brief(session_id=captured.session_id)
                given.append(await self._brief(request, is_injected=True, folder=captured.cwd))
                offer = await self._offer()
            if moment == "prompt" and isinstance(captured, RedactedEvent):
                payload = msgspec.json.decode(captured.payload_json)
                asked = Recall(prompt=str(payload.get("prompt", "")), session_id=captured.session_id)
                pieces = [piece for each in given for piece in each.pieces]
                shown = frozenset(piece.why.get("item", piece.id) for piece in pieces)
                given.append(await self._recall(asked, is_injected=True, branch=payload.get("_branch"), shown=shown))
            elif moment == "failure" and isinstance(captured, RedactedEvent):
                given.append(await self._failed_before(captured))
        except SiftdError as error:
            log.info("context_skipped", reason=error.code)
            return {}
        if not is_wanted():
            return {}
        return await self._print(client, moment, captured.session_id, [each for each in given if each.text], offer)

    async def _print(
        self, client: Client, moment: Moment, session_id: str, given: list[Given], offer: str
    ) -> dict[str, Any]:
        """Return the field of the answer that the hook prints, and note in the ledger what it brings."""
        pieces = [piece for each in given for piece in each.pieces]
        notice = "; ".join(filter(None, (self._notice([piece.id for piece in pieces]), offer)))
        text = "\n".join(each.text for each in given)
        if not text and not notice:
            return {}
        printed = client.printed(moment, text, notice)
        if text:
            hook = client.name_of(moment)
            await self._note(session_id, hook, [Injection(piece.id, piece.event_id, piece.why) for piece in pieces])
            tokens = sum(each.tokens for each in given)
            log.info("context_injected", hook=hook, session=session_id, pieces=len(pieces), tokens=tokens)
        return {"output": printed} if printed else {}

    async def _is_late_start(self, client: Client, session_id: str) -> bool:
        """Whether a prompt, which is kept already, is a session's first, of a client that gives nothing at a start."""
        if "start" in client.moments:
            return False
        return await self._store.read(lambda c: event_index.count_prompts(c, session_id, most=2)) < 2

    async def recall(self, request: Recall) -> Given:
        """Return what bears on a prompt."""
        return await self._recall(request, is_injected=False)

    async def brief(self, request: Brief) -> Given:
        """Return what a session would be given at its start."""
        return await self._brief(request, is_injected=False)

    async def note_printed(self, message: bytes) -> None:
        """Note what a hook printed of the kept brief while no daemon answered."""
        captured = await asyncio.to_thread(self._storage.intake.from_hook, message)
        shown = [
            each
            for each in decode_header(split_hook(message)[0]).told.split()
            if each[:1] in ids.KINDS and ids.is_id(each)
        ]
        if shown:

            def read(connection: Database) -> list[Injection]:
                answered = injection_ledger.session_state(connection, captured.session_id).given  # just too late
                given = []
                for each in shown:
                    why = {"section": "kept"}
                    if each[0] == ids.TEAM:
                        number = int(each[1:])
                        item = self._store.team.find(lambda c, number=number: team_reading.find_id(c, number))  # type: ignore[misc]
                        if item is None:
                            continue  # the replica was made anew since
                        why["item"] = item
                    if why.get("item", each) not in answered:
                        given.append(Injection(each, injection_ledger.find_event_of(connection, each), why))
                return given

            printed = await self._store.read(read)
            await self._note(captured.session_id, client_named(captured.client).name_of("start"), printed)

    async def warm(self) -> None:
        """Load what recall needs, once: the first prompt of a morning must not wait for imports, and would in vain."""
        if self._is_warm:
            return
        self._is_warm = True
        await anyio.sleep(WARM_AFTER_SECONDS)
        with suppress(SiftdError):
            await self._recall(Recall(prompt="what was decided about the frobnicator"), is_injected=False)

    # The kept brief

    def note_change(self) -> None:
        """Something happened that may change the brief."""
        self._stale.set()

    async def run(self) -> None:
        """Keep the file current until cancelled."""
        while True:
            await self._stale.wait()
            self._stale = anyio.Event()
            await self.keep()
            await anyio.sleep(REST_SECONDS)

    async def keep(self) -> None:
        """Make the kept brief anew; the file is replaced whole, and only when it changes."""
        try:
            given = await self._brief(Brief(), is_injected=False)
            ids = [piece.id for piece in given.pieces]
            self._saved.put(ids, given.text, self._notice(ids))
        except Exception as error:  # noqa: BLE001 - the task's boundary: a brief that fails must not end the daemon
            log.warning("brief_not_saved", error=getattr(error, "code", type(error).__name__))

    async def _recall(
        self, request: Recall, *, is_injected: bool, branch: str | None = None, shown: frozenset[str] = frozenset()
    ) -> Given:
        """Return what bears on a prompt, less what the session has; `shown` is what it is given in the same breath."""
        from siftd.search.recall import recall

        session = request.session_id
        max_tokens = _bounded(self._storage.settings.recall_max_tokens, request.max_tokens)
        if max_tokens <= 0:
            return _nothing()

        def read(connection: Database) -> Given:
            state = injection_ledger.session_state(connection, session) if is_injected and session else None
            if state is not None:
                state = replace(state, given=state.given | shown)
            engine = self._searching.engine(connection)
            of_team = self._of_team(connection, request.prompt, frozenset() if state is None else state.given)
            return recall(
                engine,
                connection,
                request.prompt,
                max_tokens=max_tokens,
                session_id=session,
                state=state,
                branch=branch or self._branch(),
                **of_team,
            )

        return (await self._store.read(read)).sealed(self._storage.intake.block_id)

    def _of_team(self, connection: Database, prompt: str, given: frozenset[str]) -> dict[str, list[Scored]]:
        """Return what the team's replica has that bears on a prompt; nothing where there is none."""
        team = self._searching.team(connection)
        if team is None:
            return {}
        from siftd.search.team_recall import recall_team

        return recall_team(team, connection, prompt, given)._asdict()

    async def _failed_before(self, event: RedactedEvent) -> Given:
        """Return how a command that failed just now was got through before."""
        from siftd.search.failed_before import failed_before

        max_tokens = self._storage.settings.recall_max_tokens
        payload = msgspec.json.decode(event.payload_json)
        command, error = payload.get("tool_input"), payload.get("error")
        command = command.get("command") if isinstance(command, dict) else None
        if not isinstance(command, str) or not isinstance(error, str) or not self._storage.settings.recall_failures:
            return _nothing()

        def read(connection: Database) -> Given:
            state = injection_ledger.session_state(connection, event.session_id)
            return failed_before(connection, event.session_id, command, error, max_tokens=max_tokens, state=state)

        return (await self._store.read(read)).sealed(self._storage.intake.block_id)

    async def _brief(self, request: Brief, *, is_injected: bool, folder: str | None = None) -> Given:
        from siftd.search.brief import FRESH, brief

        session = request.session_id
        max_tokens = _bounded(self._storage.settings.recall_brief_tokens, request.max_tokens)
        if max_tokens <= 0:
            return _nothing()

        def read(connection: Database) -> Given:
            state = injection_ledger.session_state(connection, session) if is_injected and session else FRESH
            now_ms, shared = self._storage.clock.now_ms(), self._store.everywhere.connection()
            of_team = self._store.team.find(lambda replica: _vital_of_team(replica, connection, now_ms)) or []
            return brief(
                connection,
                now_ms,
                max_tokens=max_tokens,
                session_id=session,
                state=state,
                asker=self._pods.asker(session or ""),
                everywhere=shared,
                branch=self._branch(folder) or self._branch(),
                notes=self._notes.lines([each for each in (folder, self._storage.workspace.root) if each]),
                names_clients=len(self._store.clients.names(connection)) > 1,
                of_team=of_team,
            )

        return (await self._store.read(read)).sealed(self._storage.intake.block_id)

    async def _offer(self) -> str:
        """Return the line that offers the person rules that they said since they were last offered any; once each."""
        from siftd.search.standing import list_said

        if not self._storage.settings.recall_notice:
            return ""

        now_ms = self._storage.clock.now_ms()

        def read(connection: Database) -> tuple[int, int]:
            newest = event_index.newest(connection)
            since = max(meta.number(connection, OFFERED), newest - OFFERED_EVENTS_MAX)
            return len(list_said(connection, now_ms, since_event=since)), newest

        many, newest = await self._store.read(read)
        if not many:
            return ""
        try:
            await self._store.write(lambda c: meta.put(c, OFFERED, str(newest)))
        except SiftdError:
            return ""  # it would be offered again and again
        sound = (
            "one thing you said sounds like a standing rule"
            if many == 1
            else (f"{many} things you said sound like standing rules")
        )
        return f"siftd: {sound} (`mem pins --suggested`)"

    def _notice(self, given: Sequence[str]) -> str:
        """Return the line in which the person is told what the agent was given; empty where they want none."""
        if not self._storage.settings.recall_notice:
            return ""
        ids = " ".join(f"#{each}" for each in given[:NOTICED_MAX])
        more = f" and {len(given) - NOTICED_MAX} more" if len(given) > NOTICED_MAX else ""
        return f"siftd remembered {ids}{more} (`mem injections --last`)" if ids else ""

    def _branch(self, folder: str | None = None) -> str | None:
        """Return the branch of a folder that a hook named, or of the workspace's own."""
        return self._storage.intake.branches.of(folder or self._storage.workspace.root)

    async def _note(self, session_id: str, hook: str, given: list[Injection]) -> None:
        now_ms = self._storage.clock.now_ms()
        try:
            await self._store.write(lambda c: injection_ledger.insert(c, session_id, hook, given, now_ms))
        except SiftdError as error:  # a person holds the lock, or a piece was just forgotten
            log.warning("injections_not_saved", error=error.code)


def _moment_of(captured: Captured) -> Moment | None:
    """Return when it is that a hook asks with this event; None for an event that is given nothing."""
    if isinstance(captured, RedactedSessionChange):
        return "start" if captured.change == "start" else None
    if not isinstance(captured, RedactedEvent):
        return None
    if captured.event_kind == "prompt":
        return "prompt"
    return "failure" if captured.outcome == "failed" else None


def _bounded(allowed: int, wanted: int | None) -> int:
    return allowed if wanted is None else min(allowed, wanted)


def _nothing() -> Given:
    from siftd.search.context_block import NOTHING

    return NOTHING


def _vital_of_team(replica: Database, own: Database, now_ms: int) -> list[Piece]:
    from siftd.search.team_recall import vital_of_team  # nobody who is of no team loads it

    return vital_of_team(replica, own, now_ms)
