"""One look at a workspace: its daemon's account, the newest captures, what was given last. Starts no daemon.

The daemon is asked for what it alone knows; captures and what was given are read from the store, as `mem tail` does, so
that a view that stays open costs its reading thread nothing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import siftd
from siftd.cli.context import Context
from siftd.cli.diagnose.marker_files import read_marker_files
from siftd.cli.diagnose.offline import read_files
from siftd.cli.diagnose.states import find_abnormal
from siftd.cli.stored import read_both_stores
from siftd.errors import DaemonTimedOut, DaemonUnreachable, SiftdError
from siftd.finding import Finding
from siftd.search.unsummarised import summarise_now
from siftd.store import event_views, injection_ledger
from siftd.store.access import Database
from siftd.store.statistics import count_by_minute, first_of_days
from siftd.wire.asking import Hello, Info
from siftd.wire.client import connect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from siftd.cli.diagnose.marker_files import State
    from siftd.wire.requests import EventLine, InfoAnswer, Injection

HELLO_SECONDS = 1.0
INFO_SECONDS = 3.0
LISTED = 40
"""Captures, and pieces given: as many as a tall terminal shows."""
GIVEN_LISTED = 15
MINUTE_MS = 60_000
MINUTES = 60
FINDINGS_MAX = 3


@dataclass(frozen=True, slots=True)
class Activity:
    """What is stored of the last hour and before."""

    events: list[EventLine] = field(default_factory=list)
    """The newest captures, the last one newest."""
    given: list[Injection] = field(default_factory=list)
    """What agents were given last, the newest first."""
    given_today: tuple[int, int] = (0, 0)
    """How many pieces, to how many sessions."""
    by_minute: list[int] = field(default_factory=list)
    """Captures in each minute of the last hour, the last one is now."""


@dataclass(frozen=True, slots=True)
class Glance:
    """What one look has found, and what is wrong, with the remedy."""

    at_ms: int
    state: State
    activity: Activity
    findings: list[Finding]

    def as_json(self) -> dict[str, Any]:
        """Return all of it, for programs."""
        return {
            "ts": self.at_ms,
            "state": self.state,
            "events": self.activity.events,
            "given": self.activity.given,
            "givenToday": {"pieces": self.activity.given_today[0], "sessions": self.activity.given_today[1]},
            "byMinute": self.activity.by_minute,
            "findings": [each.as_json() for each in self.findings],
        }


def take(context: Context) -> Glance:
    """Look once. Whatever is the matter with daemon or store is a finding."""
    at_ms = time.time_ns() // 1_000_000
    info, findings = ask_daemon(context)
    state: State = {**(info or read_files(context)), **read_marker_files(context.paths)}
    activity = Activity()
    try:
        activity = read_both_stores(context, lambda own, shared: _read(own, shared, at_ms)) or activity
    except SiftdError as error:
        findings.append(Finding("database", "problem", error.message, error.hint))
    if state["marks"]["held"]:  # that it is stopped says why none runs, and what starts it
        findings = [each for each in findings if each.state != "note"]
    findings += find_abnormal(state)
    return Glance(at_ms, state, activity, findings[:FINDINGS_MAX])


def ask_daemon(context: Context) -> tuple[InfoAnswer | None, list[Finding]]:
    """Return a daemon's own account, and what is the matter where there is none."""
    version = siftd.__version__
    try:
        with connect(context.paths, timeout=HELLO_SECONDS) as client:
            version = client.request(Hello(), timeout=HELLO_SECONDS)["version"]
            info = client.request(Info(), timeout=INFO_SECONDS)
    except DaemonUnreachable:
        return None, [Finding("daemon", "note", "no daemon runs", "the next tool call starts it, or `mem start`")]
    except DaemonTimedOut:
        message = "the daemon is busy: it does not answer; figures are from its files"
        return None, [
            Finding("daemon", "problem", message, "it goes on by itself; `mem doctor` and `mem logs` say more")
        ]
    except (SiftdError, KeyError) as error:
        if version == siftd.__version__ and isinstance(error, SiftdError):
            return None, [Finding("daemon", "problem", error.message, error.hint or "`mem stop`, then `mem start`")]
        info = None
    if version != siftd.__version__:
        message = f"the daemon is of version {version}, this is {siftd.__version__}; figures are from its files"
        return None, [Finding("daemon", "problem", message, "`mem stop`, then `mem start`")]
    return info, []


def _read(own: Database, shared: Database | None, at_ms: int) -> Activity:
    events = event_views.timeline_latest(own, None, LISTED)
    given = injection_ledger.list_injections(own, None, None, GIVEN_LISTED, everywhere=shared)
    return Activity(
        [{**each, "text": each["text"] or summarise_now(own, each["eventId"])} for each in events],
        given,
        injection_ledger.count_since(own, first_of_days(at_ms, 1)),
        count_by_minute(own, (at_ms // MINUTE_MS - MINUTES + 1) * MINUTE_MS, MINUTES),
    )
