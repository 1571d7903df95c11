"""`mem workspaces`: every workspace that has a memory in this home."""

from __future__ import annotations

import sqlite3
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from siftd.cli.context import Context
from siftd.cli.output import print_table, say_json, tell
from siftd.client import connect
from siftd.errors import DaemonTimedOut, DaemonUnreachable, StoreError
from siftd.paths import WorkspacePaths
from siftd.store import events, read
from siftd.store.connection import open_reader, translate


def add_arguments(parser: ArgumentParser) -> None:
    pass


def run(context: Context, options: Namespace) -> int:
    folders = sorted(Path(context.home.workspaces).glob("*/"))
    known = [_describe(context.home.for_workspace(folder.name)) for folder in folders]
    if options.json:
        say_json({"workspaces": known})
    elif known:
        rows = [
            (
                each["key"],
                "unknown" if each["events"] is None else f"{each['events']:,}",
                "running" if each["running"] else "-",
                each["problem"] or each["root"] or "unknown",
            )
            for each in known
        ]
        print_table(("key", "events", "daemon", "root"), rows)
    else:
        tell("mem: no workspace has a memory here yet")
    return 0


def _describe(paths: WorkspacePaths) -> dict[str, Any]:
    root, count, problem = None, None, None
    try:
        connection = open_reader(paths.database)
        try:
            root, count = events.get_meta(connection, "root"), read.counts(connection)["events"]
        except sqlite3.Error as error:
            raise translate(error) from error
        finally:
            connection.close()
    except StoreError as error:
        problem = error.message
    return {"key": paths.key, "root": root, "events": count, "running": _is_running(paths), "problem": problem}


def _is_running(paths: WorkspacePaths) -> bool:
    try:
        connect(paths).close()
    except DaemonUnreachable:
        return False
    except DaemonTimedOut:
        return True
    return True
