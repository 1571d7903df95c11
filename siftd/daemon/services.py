"""Everything that works on the storage of one workspace: it is made here, in the order of what needs what."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

import structlog

from siftd.capture.admission import Redacted
from siftd.capture.redacted import RedactedEvent
from siftd.consolidate.chunking import Chunker, Chunking
from siftd.consolidate.consolidator import HIDE, NOTES, TAKE_IN, Consolidator
from siftd.consolidate.drain import DrainResult
from siftd.consolidate.embedding import EmbeddingQueue
from siftd.consolidate.fact_passes import FactExtraction, FactLearning
from siftd.consolidate.fact_settling import FactSettling
from siftd.consolidate.graph_building import GraphBuilding
from siftd.consolidate.indexing import RawIndexer
from siftd.consolidate.passes import (
    Embedding,
    Indexing,
    Pass,
    Rewriting,
    RiskyTask,
    SessionSummarising,
    Summarising,
    Superseding,
    Task,
    TickTask,
)
from siftd.consolidate.superseding import Superseder
from siftd.daemon import hot_context
from siftd.daemon.backends import Backends
from siftd.daemon.context_injection import ContextInjector
from siftd.daemon.erasure.forget import Forgetter
from siftd.daemon.erasure.hide_values import ValueHider
from siftd.daemon.erasure.scrub import Scrubber
from siftd.daemon.fact_proposals import FactProposals
from siftd.daemon.fact_writes import FactWrites
from siftd.daemon.group_commit import Receipt
from siftd.daemon.ingest.spool_intake import SpoolIntake
from siftd.daemon.ingest.transcripts import Transcripts
from siftd.daemon.intents import Intents
from siftd.daemon.knowledge import KnowledgeKeeper
from siftd.daemon.live import Live
from siftd.daemon.maintenance import Maintenance
from siftd.daemon.notes_index import NotesIndex
from siftd.daemon.notes_sync import NotesSync, Trigger
from siftd.daemon.pod_access import PodAccess
from siftd.daemon.sampling import Samplers
from siftd.daemon.searching import SearchAccess
from siftd.daemon.storage import Storage
from siftd.daemon.store_access import StoreAccess
from siftd.daemon.team_access import TeamAccess
from siftd.daemon.transfer import Transfer
from siftd.errors import LogError, SiftdError
from siftd.facts.verdicts import judge
from siftd.store import token_spend
from siftd.store.opt_outs import Way
from siftd.team_sync.sync import TeamSync
from siftd.workspace.home import login_name
from siftd.workspace.paths import GLOBAL

if TYPE_CHECKING:
    pass

log = structlog.get_logger()


class Services:
    """The open workspace."""

    def __init__(self, storage: Storage, end: Callable[[], object]) -> None:
        """Set everything up; nothing runs yet. `end` ends the daemon in good order."""
        self.workspace = storage.workspace
        self.paths = storage.paths
        self.clock = storage.clock
        self.settings = storage.settings
        self.intake = storage.intake
        self.committer = storage.committer
        self.storage = storage
        self.embedder = storage.embedder
        shared = None if self.paths.key == GLOBAL else self.paths.home.for_workspace(GLOBAL).database
        self.store = StoreAccess(
            self.paths.database, self.committer, self.embedder, shared=shared, team=self.paths.team_replica
        )
        self.searching = SearchAccess(storage, self.store)
        self.team_items = TeamAccess(self.store)
        self._person = self.settings.facts_person or login_name()
        self.pods = PodAccess(self.store, self.paths.key, self._person, self.clock)
        self.live = Live(self.clock)
        self.samplers = Samplers(is_wanted=self.settings.memory_backend.partition(":")[0] == "sampling")
        self.backends = Backends(
            self.settings,
            storage.api_key,
            self.store,
            self.clock,
            storage.connection,
            storage.crash_guard,
            find_sampler=self.samplers.find,
            record_spend=self._record_spend,
        )
        self.intents = Intents(self.intake.admission, self.committer, self.clock)
        self.embedding = EmbeddingQueue(
            self.store, self.embedder, storage.crash_guard, on_embedded=self.live.note_embedded
        )
        self.chunker = Chunker(self.store, storage.crash_guard)
        self.forgetter = Forgetter(
            paths=self.paths,
            secret=storage.secret,
            clock=self.clock,
            committer=self.committer,
            tombstones=storage.tombstones,
            admission=self.intake.admission,
            keep_days=self.settings.store_keep_days,
        )
        self.scrubber = Scrubber(self.paths, self.clock, self.committer, self.intake.admission)
        self.hider = ValueHider(self.paths, self.clock, self.committer, self.intake)
        self.maintenance = Maintenance(
            root=self.workspace.root,
            paths=self.paths,
            settings=self.settings,
            clock=self.clock,
            store=self.store,
            committer=self.committer,
            forgetter=self.forgetter,
            scrubber=self.scrubber,
            is_database_in_place=storage.is_database_in_place,
            end=end,
        )
        self._spool_intake = SpoolIntake(storage, functools.partial(self._keep, way="spooled"))
        self._transcripts = Transcripts(
            self.intake,
            functools.partial(self._keep, way="read"),
            self.store,
            self.clock,
            storage.secret,
        )
        self.injector = ContextInjector(storage, self.store, self.searching, self.pods)
        self.notes_sync = NotesSync(
            self.paths,
            self.workspace.root,
            self._is_off,
            excluded=self.settings.notes_exclude,
            on_end=self.injector.note_change,
        )
        self.notes = NotesIndex(self.paths, storage.secret, self.store, self.intake)
        indexer = RawIndexer(self.store, storage.crash_guard)
        superseder = Superseder(
            self.store, self.store.index, self.clock, cosine=self.settings.memory_consolidator_supersede_cosine
        )
        self.fact_writes = FactWrites(
            store=self.store,
            committer=self.committer,
            intents=self.intents,
            intake=self.intake,
            embedder=self.embedder,
            embed=self.embed_facts,
            paths=self.paths,
            clock=self.clock,
        )
        self.fact_proposals = FactProposals(
            writes=self.fact_writes,
            store=self.store,
            intents=self.intents,
            intake=self.intake,
            clock=self.clock,
            judge=judge,
        )
        self.knowledge = KnowledgeKeeper(
            paths=self.paths,
            root=self.workspace.root,
            store=self.store,
            writes=self.fact_writes,
            intents=self.intents,
            admission=self.intake.admission,
            clock=self.clock,
            find_drainer=lambda: self.backends.drainer,
            model_name=self.settings.memory_backend,
        )
        passes: list[Pass] = [
            Task(TAKE_IN, self._take_in),
            RiskyTask(HIDE, self.hider.run, lambda name, error: self.consolidator.note_failure(name, error)),
            Indexing(self.store, indexer),
            Summarising(self.store),
            SessionSummarising(),
            Rewriting(),
            Chunking(self.chunker),
            Embedding(self.embedding),
            Superseding(
                self.store,
                superseder,
                indexer,
                self.clock,
                every_seconds=self.settings.memory_consolidator_supersede_ms / 1000,
                on_edit=self.searching.forget,
            ),
            *self._fact_passes(),
            GraphBuilding(
                self.store,
                self.embedder,
                self.intake.marks,
                self.workspace.root or "",
                asks_model=self.settings.graph_ask_model,
            ),
            FactSettling(self.store, self.intents.keep, self.clock, archive_days=self.settings.facts_archive_days),
            TickTask("maintain", self._keep_up),
            TickTask(NOTES, self.notes.refresh),
        ]
        self.team_sync = TeamSync(
            store=self.store,
            paths=self.paths,
            clock=self.clock,
            keep=self.intents.keep,
            embedder=self.embedder,
            crash_guard=storage.crash_guard,
            redact=lambda text: self.intake.redactor.text(text),
            on_change=self.injector.note_change,
            is_pushing=self.settings.team_push,
            ca_file=self.settings.team_ca_file,
        )
        self.consolidator = Consolidator(
            passes=passes,
            store=self.store,
            clock=self.clock,
            tick_seconds=self.settings.memory_consolidator_tick_ms / 1000,
            find_drainer=lambda: self.backends.drainer,
            indexer=indexer,
            embedding=self.embedding,
            on_damage=self.maintenance.note_damage,
            on_drained=self._note_drained,
        )
        self.transfer = Transfer(
            workspace=self.workspace,
            paths=self.paths,
            settings=self.settings,
            intake=self.intake,
            committer=self.committer,
            store=self.store,
            consolidator=self.consolidator,
            clock=self.clock,
            embed_facts=self.embed_facts,
        )

    def _fact_passes(self) -> list[Pass]:
        """Return what finds facts by itself."""
        if self.paths.key == GLOBAL:
            return []
        proposals = self.fact_proposals
        passes: list[Pass] = []
        if self.settings.facts_extract:
            passes.append(FactExtraction(self.store, proposals, self.clock))
        if self.settings.facts_learn:
            root = self.workspace.root
            passes.append(FactLearning(self.store, proposals.propose, proposals.withdraw, self.clock, root))
        return passes

    async def _take_in(self) -> None:
        """Take in what was not told over the socket: what couriers spooled, what transcripts tell."""
        await self._spool_intake.take()
        await self.read_transcripts()

    async def _keep(self, event: Redacted, *, way: Way) -> Receipt:
        """Keep what was not told over the socket; whoever watches sees it come as well."""
        receipt = await self.committer.keep(event, way=way)
        if isinstance(event, RedactedEvent) and receipt.event_id is not None and not receipt.is_duplicate:
            self.live.note_captured(event, receipt.event_id)
        return receipt

    async def read_transcripts(self) -> None:
        """Keep what the transcripts tell since they were read last."""
        try:
            if await self._transcripts.read():
                self.consolidator.note_capture()
                self.injector.note_change()
        except SiftdError as error:
            log.warning("transcripts_not_read", error=error.code)

    async def sync_notes(self, session_id: str, folder: str | None, trigger: Trigger) -> None:
        """Bring the notes up to date of what a session was about, once all of it is taken in, and its facts are."""
        await self.read_transcripts()
        root = self.workspace.root
        await self.notes_sync.note(session_id, folder or root, trigger, self.consolidator.tick)

    def _is_off(self, session_id: str) -> bool:
        return self.committer.off_since() is not None or self.committer.off_since(session_id) is not None

    def _note_drained(self, result: DrainResult) -> None:
        self.live.note("drain", processed=result.processed, errors=result.errors, embedded=result.embedded)

    async def embed_facts(self) -> None:
        """Give facts without a vector theirs; one that cannot be made now is made at a later tick."""
        await self.embedding.run_facts(lambda: not self.consolidator.is_stopping)

    async def _record_spend(self, day: str, backend: str, tokens: int) -> None:
        """Log what a remote backend was paid: the daily cap must outlive the database."""
        try:
            await self.intents.keep("spend", {"day": day, "backend": backend, "tokens": tokens})
        except LogError:  # a full disk: the database has room for a number, and the cap holds meanwhile
            await self.store.write(lambda c: token_spend.spend(c, day, backend, tokens, is_remote=True))

    async def refresh_hot_context(self) -> None:
        """Let the file that clients load by themselves say what holds in every project, where a person asked for it."""
        try:
            await asyncio.to_thread(hot_context.keep, self.paths.home, self._person, self.clock.now_ms())
        except (SiftdError, OSError) as error:
            log.warning("hot_context_not_written", error=getattr(error, "code", type(error).__name__))

    async def _keep_up(self) -> None:
        await self.maintenance.run()
        if self.paths.key == GLOBAL:  # what was kept, or holds no longer, since a session ended last
            await self.refresh_hot_context()
        self.injector.note_change()

    async def finish(self) -> None:
        """Wait for the batch that runs, then do what ends with this process: read what sessions have said last, hide
        what they have redacted."""
        await self.consolidator.finished()
        await self.read_transcripts()
        try:
            await self.hider.run(at_once=True)
        except SiftdError as error:
            log.warning("final_hiding_failed", error=error.code)

    def close(self) -> None:
        """Stop reading; the storage stays open."""
        self.team_sync.close()
        self.store.close()
