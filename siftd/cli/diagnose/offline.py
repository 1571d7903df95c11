"""The state of a workspace as its files tell it, while no daemon runs. Reads only, and makes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from siftd.cli.context import Context
from siftd.errors import StoreError
from siftd.store import event_views, events, team_links, team_outbox
from siftd.store.access import Database, DatabaseError
from siftd.store.connection import open_reader, translate
from siftd.store.migrate import check_not_newer
from siftd.store.tombstones import pending_seq
from siftd.wire.requests.living import InfoAnswer
from siftd.wire.requests.team import TeamLine
from siftd.workspace.home import load_settings
from siftd.workspace.identity import path_as_text

_COUNTS = ("events", "raw", "summarized", "skipped", "summaries", "embeddings", "superseded", "memories")
_COUNTERS = ("accepted", "duplicates", "rejected", "spooled")


def read_files(context: Context) -> InfoAnswer:
    """Return what `info` answers, with `running` false. A workspace without a database has zeros."""
    paths = context.paths
    backend, embedder, config_problem = _configured(context)
    segments = list(Path(paths.folder).glob("wal*.ndjson*"))
    stored, store_problem = _read_database(paths.database, has_log=bool(segments))
    return {
        "workspace": {"root": path_as_text(context.workspace.root), "key": context.workspace.key},
        "socket": paths.socket,
        "database": paths.database,
        "daemon": {"running": False, "pid": None, "version": None, "uptimeMs": None, "rssBytes": None},
        "counts": stored["counts"],
        "backend": {"name": backend, "state": "stopped", "lastError": None},
        "embedder": {"name": embedder, "dim": None, "state": "stopped"},
        "backends": [],
        "log": {
            "segments": len(segments),
            "bytes": sum(file.stat().st_size for file in segments),
            "appliedSeq": stored["appliedSeq"],
        },
        "captures": stored["captures"],
        "spool": {"files": sum(1 for _ in Path(paths.spool).glob("[0-9]*.json"))},
        "redactions": stored["redactions"],
        "rejections": stored["rejections"],
        "parked": stored["parked"],
        "forget": {"pending": stored["forgets"]},
        "problems": [store_problem] if store_problem else [],
        "config": {"problem": config_problem},
        "team": stored.get("team"),
    }


def _read_team(connection: Database) -> TeamLine | None:
    """Return the team as the database tells of it, which may be of an earlier siftd."""
    if not team_links.is_known(connection):
        return None
    link = team_links.find_link(connection)
    if link is None:
        return None
    waiting, parked, since = team_outbox.read_counts(connection)
    return {
        "name": link.name,
        "url": link.url,
        "problem": link.problem,
        "awaySince": None,
        "waiting": waiting,
        "waitingSince": since,
        "parked": parked,
        "pulledTs": link.pulled_ts,
    }


def _configured(context: Context) -> tuple[str, str, str | None]:
    loaded = load_settings(context.home)
    return loaded.settings.memory_backend, loaded.settings.memory_embedder, loaded.problem


def _read_database(path: str, *, has_log: bool) -> tuple[dict[str, Any], str | None]:
    nothing = {
        "counts": dict.fromkeys(_COUNTS, 0),
        "captures": dict.fromkeys(_COUNTERS, 0),
        "redactions": {},
        "rejections": [],
        "parked": [],
        "forgets": [],
        "appliedSeq": 0,
    }
    if not Path(path).exists():
        missing = f"the database {path} is missing; `mem start` builds it again from the log"
        return nothing, missing if has_log else None
    try:
        connection = open_reader(path)
        try:
            check_not_newer(connection)
            return {
                "counts": event_views.counts(connection),
                "captures": event_views.counters(connection),
                "redactions": event_views.redactions(connection),
                "rejections": event_views.rejections(connection),
                "parked": event_views.parked(connection),
                "forgets": [] if pending_seq(connection) is None else ["the next daemon erases it"],
                "appliedSeq": events.applied_seq(connection),
                "team": _read_team(connection),
            }, None
        except DatabaseError as error:
            raise translate(error) from error
        finally:
            connection.close()
    except StoreError as error:
        return nothing, f"{error.message}; {error.hint}"
