"""What `mem doctor` learns from the daemon itself; it starts none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import siftd
from siftd.cli.context import ANSWER_SECONDS, Context
from siftd.cli.finding import Finding
from siftd.cli.output import count, format_duration, format_time
from siftd.client import Client, connect
from siftd.errors import DaemonTimedOut, DaemonUnreachable, SiftdError

HELLO_SECONDS = 1.0
RECENT_MS = 86_400_000
"""A capture that was rejected earlier than this is history."""


def check_daemon(context: Context) -> Iterator[Finding]:
    """Say whether it runs and answers, then what it has to tell."""
    try:
        with connect(context.paths, timeout=HELLO_SECONDS) as client:
            yield _check_hello(client.request({"kind": "hello"}, timeout=HELLO_SECONDS))
            yield from _check_info(client)
    except DaemonUnreachable:
        yield Finding("daemon", "problem", "no daemon runs", "`mem start`, or the next tool call, starts it")
    except DaemonTimedOut:
        message = f"the daemon hangs: it does not answer within {HELLO_SECONDS:g} s"
        yield Finding("daemon", "problem", message, "see `mem logs`; then `mem stop` and `mem start`")
    except SiftdError as error:
        yield Finding("daemon", "problem", error.message, error.hint or "`mem stop`, then `mem start`")


def _check_hello(hello: dict[str, Any]) -> Finding:
    if hello["version"] != siftd.__version__:
        message = f"the daemon is of version {hello['version']}, this is {siftd.__version__}"
        return Finding("daemon", "problem", message, "`mem stop`, then `mem start`")
    return Finding("daemon", "ok", f"runs for {format_duration(hello['uptimeMs'])}, pid {hello['pid']}")


def _check_info(client: Client) -> Iterator[Finding]:
    info = client.request({"kind": "info"}, timeout=ANSWER_SECONDS)
    yield from _check_backend(info)
    embedder = info["embedder"]
    if embedder["state"] != "ready":
        yield Finding("embedder", "problem", f"{embedder['name']}: {embedder['state']}", "search goes on by words only")
    for problem in info.get("problems", []):
        yield Finding("daemon", "problem", str(problem), "see `mem logs`")
    if info["log"].get("behind"):
        message = "the database is locked by another program, or the disk is full; the log has everything"
        yield Finding("database", "problem", message, "close what holds it open, or make room")
    for rejected in info.get("rejections", []):
        yield _check_rejection(rejected)
    for parked in info.get("parked", []):
        message = f"{count(parked['count'], 'event')} {parked['status']}: {parked['reason']}"
        if parked["status"] == "skipped":
            yield Finding("summaries", "note", message, "`mem retry --all` tries again")
        else:
            yield Finding("summaries", "problem", message, "they are tried again by themselves; `mem drain` tries now")


def _check_backend(info: dict[str, Any]) -> Iterator[Finding]:
    backend = info["backend"]
    remedies = [
        each["remedy"] for each in info.get("backends", []) if each["name"] == backend["name"].partition(":")[0]
    ]
    if backend["state"] == "ready":
        yield Finding("backend", "ok", backend["name"])
    else:
        message = f"{backend['name']} is {backend['state']}: {backend['lastError'] or 'no reason given'}"
        yield Finding("backend", "problem", message, next(filter(None, remedies), "see `mem config memory.backend`"))


def _check_rejection(rejected: dict[str, Any]) -> Finding:
    what = f"{count(rejected['count'], 'capture')} rejected ({rejected['reason']})"
    message = f"{what}, last {format_time(rejected['last_ts'])}"
    is_recent = time.time() * 1000 - rejected["last_ts"] < RECENT_MS
    return Finding("captures", "problem" if is_recent else "note", message, "see `mem logs`")
