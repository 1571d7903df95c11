"""Everything that works on the stock of one workspace: reading, consolidating, telling, and what people ask for."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

import siftd
from siftd.admission import RedactedIntent
from siftd.config import is_excluded
from siftd.consolidate.embedding import EmbeddingQueue
from siftd.consolidate.superseding import Superseder
from siftd.consolidate.tick import Consolidator
from siftd.daemon.backends import Backends
from siftd.daemon.forgetting import Forgetter
from siftd.daemon.reading import StoreAccess
from siftd.daemon.sampling import Samplers
from siftd.daemon.scrubbing import Scrubber
from siftd.daemon.stock import Stock
from siftd.daemon.telling import Telling
from siftd.daemon.upkeep import Upkeep
from siftd.errors import LogError, RequestInvalid, SiftdError
from siftd.home import load_settings
from siftd.log.segments import segments
from siftd.messages import Backfill, Forget, Search
from siftd.paths import GLOBAL
from siftd.project_file import ProjectFile
from siftd.scoring import Scoring
from siftd.spool import SpoolFile, count_files, iter_spool, readmit
from siftd.store import events, health, opt_outs, read
from siftd.store.scoring import read_scoring
from siftd.store.snapshots import copy_database, list_snapshots
from siftd.store.tombstones import pending_seq

if TYPE_CHECKING:
    from siftd.backfill.result import BackfillResult
    from siftd.exchange.result import ImportResult
    from siftd.search.engine import Answer, SearchEngine

log = structlog.get_logger()


class Workshop:
    """The open workspace."""

    def __init__(self, stock: Stock) -> None:
        """Set everything up; nothing runs yet."""
        self.workspace = stock.workspace
        self.paths = stock.paths
        self.clock = stock.clock
        self.settings = stock.settings
        self.intake = stock.intake
        self.committer = stock.committer
        self._stock = stock
        self.embedder = stock.embedder
        shared = None if self.paths.key == GLOBAL else self.paths.home.for_workspace(GLOBAL).database
        self.store = StoreAccess(self.paths.database, self.committer, self.embedder, shared=shared)
        self._engine: SearchEngine | None = None
        self._project_file = ProjectFile(self.workspace.root)
        self.samplers = Samplers(is_wanted=self.settings["memory.backend"].partition(":")[0] == "sampling")
        self.backends = Backends(
            self.settings,
            stock.api_key,
            self.store,
            self.clock,
            stock.connection,
            stock.at_work,
            find_sampler=self.samplers.find,
            keep_bill=self._keep_bill,
        )
        self._embedding = EmbeddingQueue(self.store, self.embedder, stock.at_work)
        self._forgetter = Forgetter(
            paths=self.paths,
            secret=stock.secret,
            clock=self.clock,
            committer=self.committer,
            tombstones=stock.tombstones,
            admission=self.intake.admission,
            keep_days=self.settings["store.keepDays"],
        )
        self._scrubber = Scrubber(self.paths, self.clock, self.committer, self.intake.admission)
        self._upkeep = Upkeep(
            root=self.workspace.root,
            paths=self.paths,
            settings=self.settings,
            clock=self.clock,
            store=self.store,
            forgetter=self._forgetter,
            scrubber=self._scrubber,
        )
        self.telling = Telling(self)
        self.consolidator = Consolidator(
            store=self.store,
            settings=self.settings,
            clock=self.clock,
            drainer=self.backends.drainer,
            embedding=self._embedding,
            superseder=Superseder(
                self.store, self.store.index, self.clock, cosine=self.settings["memory.consolidator.supersedeCosine"]
            ),
            take_spool=self.take_spool,
            upkeep=self._keep_up,
            at_work=stock.at_work,
        )

    async def search(self, request: Search) -> Answer:
        """Search in the reading thread."""
        return await self.store.read(
            lambda connection: self.search_engine(connection).search(
                request.query, request.k, request.filters, weights=request.weights, group=request.group
            )
        )

    async def embed_memories(self) -> None:
        """Give memories without a vector theirs; one that cannot be made now is made at a later tick."""
        await self._embedding.run_memories(lambda: not self.consolidator.is_stopping)

    async def _keep_bill(self, day: str, backend: str, tokens: int) -> None:
        """Log what a remote backend was paid: the daily cap must outlive the database."""
        try:
            await self.keep_intent("spend", {"day": day, "backend": backend, "tokens": tokens})
        except LogError:  # a full disk: the database has room for a number, and the cap holds meanwhile
            await self.store.write(lambda c: health.spend(c, day, backend, tokens, is_remote=True))

    async def keep_intent(self, kind: str, payload: dict[str, Any], *, session_id: str = "") -> int:
        """Log and apply what was asked for; return the seq of its record. Raises LogError when it cannot be kept."""
        now_ms = self.clock.now_ms()
        return await self.keep_admitted(
            self.intake.admission.admit_intent(kind, payload, ts=now_ms, session_id=session_id)
        )

    async def keep_admitted(self, intent: RedactedIntent) -> int:
        """Log and apply an intent; return the seq of its record. Raises LogError when it cannot be kept."""
        receipt = await self.committer.keep(intent)
        if receipt.error is not None:
            raise receipt.error
        return receipt.seq

    async def forget(self, request: Forget) -> dict[str, Any]:
        """Forget what a person wants forgotten, or say what that would be."""
        answer = await self.consolidator.alone(lambda: self._forgetter.forget(request))
        if not request.dry_run:
            self.note_memories_changed()
        return answer

    def note_memories_changed(self) -> None:
        """What a memory for every project said may stand in every project's kept brief: those go, and are made anew."""
        if self.paths.key == GLOBAL:
            for brief in Path(self.paths.home.workspaces).glob("*/brief"):
                brief.unlink(missing_ok=True)

    async def _keep_up(self) -> None:
        await self._upkeep.run()
        self.telling.note_change()

    async def scrub(self, dry_run: bool) -> dict[str, Any]:
        """Apply the rules of the configuration as it is now to everything stored, and to what comes from now on."""
        loaded = load_settings(self.paths.home, os.environ, self._stock.loaded.flags)
        if loaded.problem:
            raise RequestInvalid("the configuration cannot be used as it is", hint=loaded.problem)
        self.intake.take_rules(loaded.settings)
        return await self.consolidator.alone(lambda: self._scrubber.scrub(dry_run=dry_run))

    async def prune(self) -> dict[str, Any]:
        """Forget what the configuration says is too old."""
        events_pruned = await self.consolidator.alone(self._forgetter.prune)
        segments_pruned = await self.consolidator.alone(self._upkeep.prune_log)
        return {"events": events_pruned, "segments": segments_pruned, "pending": self._forgetter.pending}

    async def backup(self, path: str) -> dict[str, Any]:
        """Copy the database into a new file."""
        target = Path(path)
        if not target.is_absolute() or target.exists() or not target.parent.is_dir():
            raise RequestInvalid("a backup goes into a new file in a folder that is there", hint="give another name")
        try:
            seq = await asyncio.to_thread(copy_database, self.paths.database, target)
        except OSError as error:
            raise RequestInvalid(f"the backup failed: {error.strerror}", hint="give another place") from error
        return {"path": path, "bytes": target.stat().st_size, "seq": seq}

    async def take_spool(self) -> None:
        """Take in what couriers spooled; a file goes only after its event is safe in the log."""
        for file in iter_spool(self.paths.spool):
            if self._stock.at_work.is_condemned("take", file.path.name):
                self._leave_out(file)
                continue
            try:
                with self._stock.at_work.on("take", [file.path.name]):
                    event = readmit(file, self.intake)
                if event is None:
                    reason = str(file.kept.get("reason", "unknown"))
                    await self.committer.run(lambda c, r=reason: events.count_rejection(c, r, self.clock.now_ms()))  # type: ignore[misc]
                else:
                    receipt = await self.committer.keep(event, spooled=True)
                    if receipt.error is not None:
                        log.warning("spool_refused", error=receipt.error.code)
                        return
                    log.info("spool_taken", event_id=receipt.event_id)
            except (SiftdError, KeyError, TypeError, ValueError) as error:
                log.warning("spool_file_unreadable", error=type(error).__name__)
                self._leave_out(file)
            else:
                file.path.unlink(missing_ok=True)

    def _leave_out(self, file: SpoolFile) -> None:
        file.path.rename(file.path.with_suffix(".bad"))
        self._stock.at_work.acquit("take", [file.path.name])

    async def backfill(
        self,
        request: Backfill,
        on_progress: Callable[[int, int, BackfillResult], Awaitable[None]],
    ) -> BackfillResult:
        """Read transcripts into the store."""
        from siftd.backfill import backfill

        result = await backfill(
            paths=request.paths,
            claude_home=request.claude_home or str(Path.home() / ".claude"),
            workspace=self.workspace,
            any_workspace=request.any_workspace,
            is_excluded=lambda root: is_excluded(root, self.settings),
            intake=self.intake,
            keep=self.committer.keep,
            progress_store=self.store,
            clock=self.clock,
            on_progress=on_progress,
            goes_on=lambda: not self.consolidator.is_stopping,
        )
        self.consolidator.note_capture()
        return result

    async def export(self, path: str, on_progress: Callable[[int, int], object]) -> dict[str, int]:
        """Write everything into a file, in a thread of its own; the database has caught up with the log before."""
        from siftd.exchange.exporting import export

        await self.store.write(lambda _: None)
        return await asyncio.to_thread(export, self.paths.database, path, self.clock.now_ms(), on_progress)

    async def import_file(self, path: str, on_progress: Callable[[int, int], object]) -> ImportResult:
        """Merge an exported file in; the consolidator waits, so that no event is summarised before its own is read."""
        from siftd.exchange.run import import_file

        async with self.consolidator.paused():
            result = await import_file(
                path,
                intake=self.intake,
                keep=self.committer.keep,
                store=self.store,
                clock=self.clock,
                on_progress=on_progress,
                goes_on=lambda: not self.consolidator.is_stopping,
            )
        self.consolidator.note_capture()
        await self.embed_memories()
        return result

    async def info(self) -> dict[str, Any]:
        """Return the state of everything, as `mem info --json` shows it."""
        counts, counters, redactions, rejections, parked, tokens, paused, applied, unerased = await self.store.read(
            lambda c: (
                read.counts(c),
                read.counters(c),
                read.redactions(c),
                read.rejections(c),
                read.parked(c),
                self.backends.tokens(c),
                opt_outs.off_since(c),
                events.applied_seq(c),
                pending_seq(c),
            )
        )
        pending = self._forgetter.pending or (["it is being erased"] if unerased is not None else [])
        _, file_problem = await self.store.read(lambda _: self._project_file.read())
        files = segments(self.paths.wal)
        recovery = self._stock.recovery
        return {
            "workspace": {"root": self.workspace.root, "key": self.workspace.key},
            "socket": self.paths.socket,
            "database": self.paths.database,
            "daemon": {
                "running": True,
                "pid": self._stock.pid,
                "version": siftd.__version__,
                "uptimeMs": self._stock.uptime_ms(),
                "rssBytes": resident_bytes(),
            },
            "counts": counts,
            "backend": self.backends.state(),
            "embedder": {
                "name": self.embedder.name,
                "dim": self.embedder.known_dim,
                "state": self._embedding.last_error or "ready",
            },
            "backends": self.backends.states(),
            "tokens": tokens,
            "pausedSince": paused,
            "log": {
                "segments": len(files),
                "bytes": sum(file.stat().st_size for file in files),
                "appliedSeq": applied,
                "behind": self.committer.is_behind,
                "refusing": self.committer.refusing,
            },
            "captures": counters,
            "spool": {"files": count_files(self.paths.spool)},
            "rejections": rejections,
            "parked": parked,
            "forget": {"pending": pending},
            "snapshots": {"files": len(list_snapshots(self.paths.snapshots))},
            "redactions": redactions,
            "scrub": {"pending": self._scrubber.pending},
            "config": {"problem": self._stock.loaded.problem or file_problem},
            "problems": self._stock.at_work.problems(),
            "recovery": {"tornBytes": recovery.torn_bytes, "corruptLines": recovery.corrupt_lines},
        }

    def close(self) -> None:
        """Stop reading; the stock stays open."""
        self.store.close()

    def scoring_layers(self, connection: sqlite3.Connection) -> dict[str, dict[str, float]]:
        """Return this project's numbers by where they come from, what decides first. For the reading thread."""
        from_file, _ = self._project_file.read()
        return {"project": read_scoring(connection), "file": from_file, "default": asdict(Scoring())}

    def search_engine(self, connection: sqlite3.Connection) -> SearchEngine:
        """Return the engine of the reading thread."""
        if self._engine is None:
            from siftd.search.engine import SearchEngine
            from siftd.search.weights import of_settings

            self._engine = SearchEngine(
                connection,
                self.store.index,
                self.embedder.embed_question,
                self.clock.now_ms,
                of_settings(self.settings),
                self.store.everywhere.connection,
                lambda: {**(layers := self.scoring_layers(connection))["file"], **layers["project"]},
            )
        return self._engine


def resident_bytes() -> int:
    """Return the memory this process holds now (Linux), or its peak where the system tells only that (macOS)."""
    if sys.platform.startswith("linux"):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
