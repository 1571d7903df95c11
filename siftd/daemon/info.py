"""The state of everything in one workspace, as `mem info --json` shows it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import siftd
from siftd.log.segments import segments
from siftd.spool import count_files
from siftd.store import events, meta, read
from siftd.store.snapshots import list_snapshots
from siftd.store.tombstones import pending_seq
from siftd.workspace import path_as_text

if TYPE_CHECKING:
    from siftd.daemon.workshop import Workshop


async def info(shop: Workshop) -> dict[str, Any]:
    """Return the state of everything."""
    stock, paths = shop.stock, shop.paths
    made_anew, log_lost, rescued = await shop.store.read(
        lambda c: (meta.get(c, "made_anew"), meta.get(c, "log_lost_ts"), meta.get(c, "rescued"))
    )
    counts, counters, redactions, rejections, parked, tokens, applied, unerased = await shop.store.read(
        lambda c: (
            read.counts(c),
            read.counters(c),
            read.redactions(c),
            read.rejections(c),
            read.parked(c),
            shop.backends.tokens(c),
            events.applied_seq(c),
            pending_seq(c),
        )
    )
    pending = shop.forgetter.pending or (["it is being erased"] if unerased is not None else [])
    file_problem = await shop.searching.file_problem()
    files = segments(paths.wal)
    recovery = stock.recovery
    return {
        "workspace": {"root": path_as_text(shop.workspace.root), "key": shop.workspace.key},
        "socket": paths.socket,
        "database": paths.database,
        "daemon": {
            "running": True,
            "pid": stock.pid,
            "version": siftd.__version__,
            "uptimeMs": stock.uptime_ms(),
            "rssBytes": resident_bytes(),
        },
        "counts": counts,
        "backend": shop.backends.state(),
        "embedder": {
            "name": stock.embedder.name,
            "dim": stock.embedder.known_dim,
            "state": shop.embedding.last_error or "ready",
        },
        "backends": shop.backends.states(),
        "tokens": tokens,
        "pausedSince": stock.committer.off_since(),
        "log": {
            "segments": len(files),
            "bytes": sum(file.stat().st_size for file in files),
            "appliedSeq": applied,
            "behind": stock.committer.is_behind,
            "refusing": stock.committer.refusing,
        },
        "captures": counters,
        "spool": {"files": count_files(paths.spool)},
        "rejections": rejections,
        "parked": parked,
        "forget": {"pending": pending},
        "snapshots": {"files": len(list_snapshots(paths.snapshots))},
        "redactions": redactions,
        "scrub": {"pending": shop.scrubber.pending},
        "config": {"problem": stock.loaded.problem or file_problem},
        "problems": stock.at_work.problems(),
        "recovery": {
            "tornBytes": recovery.torn_bytes,
            "corruptLines": recovery.corrupt_lines,
            "databaseMadeAnewTs": made_anew and int(made_anew),
            "logLostTs": log_lost and int(log_lost),
            "foreignSegments": recovery.foreign_segments,
            "rescued": rescued and json.loads(rescued),
        },
    }


def resident_bytes() -> int:
    """Return the memory this process holds now (Linux), or its peak where the system tells only that (macOS)."""
    if sys.platform.startswith("linux"):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
