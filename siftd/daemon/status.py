"""The state of everything in one workspace, as `mem info --json` shows it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import siftd
from siftd.daemon.team_state import team_line
from siftd.log.segments import segments
from siftd.log.spool import count_files
from siftd.store import documents, event_views, events, meta
from siftd.store.snapshots import list_snapshots
from siftd.store.tombstones import pending_seq
from siftd.wire.requests import InfoAnswer
from siftd.workspace.identity import path_as_text

if TYPE_CHECKING:
    from siftd.daemon.services import Services

PAUSED_SESSIONS_MAX = 20
"""That are listed, the newest. Arbitrary."""


async def info(services: Services) -> InfoAnswer:
    """Return the state of everything."""
    storage, paths = services.storage, services.paths
    rebuilt, log_lost, rescued = await services.store.read(
        lambda c: (meta.get(c, "made_anew"), meta.get(c, "log_lost_ts"), meta.get(c, "rescued"))
    )
    counts, counters, redactions, rejections, parked, tokens, applied, unerased = await services.store.read(
        lambda c: (
            event_views.counts(c),
            event_views.counters(c),
            event_views.redactions(c),
            event_views.rejections(c),
            event_views.parked(c),
            services.backends.tokens(c),
            events.applied_seq(c),
            pending_seq(c),
        )
    )
    note_entries, note_files = await services.notes.count()
    read_in, chunks = await services.store.read(documents.count)
    pending = services.forgetter.pending or (["it is being erased"] if unerased is not None else [])
    file_problem = await services.searching.file_problem()
    files = segments(paths.wal)
    recovery = storage.recovery
    return {
        "workspace": {"root": path_as_text(services.workspace.root), "key": services.workspace.key},
        "socket": paths.socket,
        "database": paths.database,
        "daemon": {
            "running": True,
            "pid": storage.pid,
            "version": siftd.__version__,
            "uptimeMs": storage.uptime_ms(),
            "rssBytes": resident_bytes(),
        },
        "counts": counts,
        "notes": {"entries": note_entries, "files": note_files},
        "documents": {"count": read_in, "chunks": chunks},
        "backend": services.backends.state(),
        "embedder": {
            "name": storage.embedder.name,
            "dim": storage.embedder.known_dim,
            "state": services.embedding.last_error or "ready",
        },
        "backends": services.backends.states(),
        "tokens": tokens,
        "pausedSince": storage.committer.off_since(),
        "pausedSessions": [
            {"sessionId": session, "since": since}
            for session, since in storage.committer.sessions_off()[:PAUSED_SESSIONS_MAX]
        ],
        "log": {
            "segments": len(files),
            "bytes": sum(file.stat().st_size for file in files),
            "appliedSeq": applied,
            "behind": storage.committer.is_behind,
            "refusing": storage.committer.refusing,
        },
        "captures": counters,
        "searches": services.searching.state(),
        "spool": {"files": count_files(paths.spool)},
        "rejections": rejections,
        "parked": parked,
        "forget": {"pending": pending},
        "snapshots": {"files": len(list_snapshots(paths.snapshots))},
        "redactions": redactions,
        "scrub": {"pending": services.scrubber.pending},
        "team": await team_line(services.team_sync, services.store),
        "config": {"problem": storage.loaded.problem or file_problem},
        "problems": [*storage.crash_guard.problems(), *services.consolidator.problems()],
        "recovery": {
            "tornBytes": recovery.torn_bytes,
            "corruptLines": recovery.corrupt_lines,
            "databaseMadeAnewTs": int(rebuilt) if rebuilt else None,
            "logLostTs": int(log_lost) if log_lost else None,
            "foreignSegments": recovery.foreign_segments,
            "rescued": json.loads(rescued) if rescued else None,
        },
    }


def resident_bytes() -> int:
    """Return the memory this process holds now (Linux), or its peak where the system tells only that (macOS)."""
    if sys.platform.startswith("linux"):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
