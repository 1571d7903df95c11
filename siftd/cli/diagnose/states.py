"""Every abnormal state that shows in what `mem info` reads, each with its remedy.

`mem info`, `mem doctor` and a search that finds nothing say it from here, so that none of them knows less than the
others: broken never looks like empty.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from siftd.cli.output import count, format_duration, format_time
from siftd.finding import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.cli.diagnose.marker_files import Marks, State
    from siftd.wire.requests import RescuedRows

RECENT_MS = 86_400_000
"""What happened earlier than this is history."""
MEANT = ("not_a_prompt", "internal_agent", "unhandled_event")
"""Reasons of rejections by which nothing is lost: what clients say to themselves, and what nobody asked them for."""
SESSION_CHARS = 8
"""Of a session's id, as everywhere that one is listed."""
SLOW_LATELY_MS = 600_000
AT_REST = ("ready", "stopped")


def find_abnormal(state: State) -> Iterator[Finding]:
    """Yield what is not as it should be, in the order in which a tool call passes the links."""
    yield from _starts(state["marks"])
    yield from _paused(state)
    yield from _captures(state)
    yield from _spool(state)
    yield from _log(state)
    yield from _database(state)
    yield from _summaries(state)
    yield from _erasing(state)
    yield from _team(state)


def _starts(marks: Marks) -> Iterator[Finding]:
    if marks["held"]:
        message = "stopped by `mem stop`: what is captured waits in the spool"
        yield Finding("start", "problem", message, "run `mem start`")
    if marks["failedStarts"]:
        tried = f"the daemon failed to start {count(marks['failedStarts'], 'time')}"
        last = f"last {format_time(marks['failedStartTs'])}: {marks['failedStartReason']}"
        yield Finding("start", "problem", f"{tried}, {last}", "mend that and run `mem start`")
    if marks["slowMs"] is not None and marks["slowMs"] < SLOW_LATELY_MS:
        since = format_duration(marks["slowMs"])
        message = f"the daemon let a hook wait {since} ago; its event went by the courier"
        yield Finding("daemon", "problem", message, "see `mem logs`")


def _team(state: State) -> Iterator[Finding]:
    team = state.get("team")
    if not team:
        return
    if team["problem"]:
        message = f"nothing goes up to {team['name']} or comes down: {team['problem']}"
        yield Finding("team", "problem", message, "`mem team pull` tries again")
    elif team["awaySince"]:
        message = f"the server of {team['name']} is away since {format_time(team['awaySince'])}"
        yield Finding("team", "note", f"{message}; {count(team['waiting'], 'item')} waiting", "`mem team status`")
    if team["parked"]:
        message = f"{count(team['parked'], 'item')} that the server of {team['name']} does not take"
        yield Finding("team", "note", message, "`mem team status` says why")


def _paused(state: State) -> Iterator[Finding]:
    if state.get("pausedSince") is not None:
        message = f"nothing is captured since it was paused ({format_time(state['pausedSince'])})"
        yield Finding("capture", "problem", message, "run `mem resume`")
    for each in state.get("pausedSessions", ()):
        session = each["sessionId"][:SESSION_CHARS]
        message = f"nothing of session {session} is captured (since {format_time(each['since'])})"
        yield Finding("capture", "note", message, f"`mem resume --session {session}` ends that")


def _captures(state: State) -> Iterator[Finding]:
    now_ms = time.time() * 1000
    for each in state["rejections"]:
        what = f"{count(each['count'], 'capture')} rejected ({each['reason']}), last {format_time(each['lastTs'])}"
        is_loss = now_ms - each["lastTs"] < RECENT_MS and each["reason"] not in MEANT
        yield Finding("captures", "problem" if is_loss else "note", what, "see `mem logs`")


def _spool(state: State) -> Iterator[Finding]:
    marks = state["marks"]
    if state["dropped"]:
        message = (
            f"{count(state['dropped'], 'capture')} could not be kept at all (a full disk, or a broken installation)"
        )
        remedy = f"make room; remove {_marker_file(state['socket'], '.dropped')} to start counting again"
        yield Finding("spool", "problem", message, remedy)
    if marks["unreadableSpoolFiles"]:
        folder = f"{_folder(state)}/spool"
        message = f"{count(marks['unreadableSpoolFiles'], 'file')} in {folder} cannot be read"
        yield Finding("spool", "problem", message, "remove the *.bad files there")
    if state["spool"]["files"]:
        yield Finding(
            "spool", "problem", f"{count(state['spool']['files'], 'capture')} waiting", "`mem drain` takes them in"
        )


def _log(state: State) -> Iterator[Finding]:
    marks, folder = state["marks"], f"{_folder(state)}/quarantine"
    if state["log"].get("refusing"):
        message = f"captures are refused ({state['log']['refusing']}): the log cannot be written; couriers spool them"
        yield Finding("log", "problem", message, "make room on the disk; captures go on by themselves")
    if marks["condemnedRecords"]:
        records = count(marks["condemnedRecords"], "record")
        message = f"{records} of the log cannot be applied and is left out, kept in {folder}"
        yield Finding("log", "problem", message, "`mem rebuild` tries it again; please report it")
    if marks["corruptLines"]:
        message = (
            f"{count(marks['corruptLines'], 'corrupt line')} of the log set aside in {folder}: those events are lost"
        )
        yield Finding("log", "problem", message, "check the disk; remove the files there once read")
    if marks["foreignSegments"]:
        message = f"{count(marks['foreignSegments'], 'segment')} of another workspace set aside in {folder}"
        yield Finding("log", "problem", message, "remove the foreign-* files there, or put them back where they were")
    if marks["tornTails"]:
        tails = count(marks["tornTails"], "torn tail")
        yield Finding("log", "note", f"{tails} of a crash kept in {folder}; nothing was lost")


def _database(state: State) -> Iterator[Finding]:
    for problem in state.get("problems", []):
        yield Finding("daemon", "problem", str(problem), "see `mem logs`")
    if state["log"].get("behind"):
        message = "the database is locked by another program, or the disk is full; the log has everything"
        yield Finding("database", "problem", message, "close what holds it open, or make room")
    rebuilt = state.get("recovery", {}).get("databaseMadeAnewTs")
    if rebuilt is not None and time.time() * 1000 - rebuilt < RECENT_MS:
        yield Finding("database", "note", f"was missing, and was rebuilt from the log: {format_time(rebuilt)}")
    log_lost = state.get("recovery", {}).get("logLostTs")
    if log_lost is not None and time.time() * 1000 - log_lost < RECENT_MS:
        message = f"was deleted or cut; what it held is in the database and in a snapshot: {format_time(log_lost)}"
        yield Finding("log", "note", message)
    rescued = state.get("recovery", {}).get("rescued")
    if rescued and time.time() * 1000 - rescued["ts"] < RECENT_MS:
        yield from _rescued(rescued, state["database"])
    if state["marks"]["damagedDatabases"]:
        message = f"{count(state['marks']['damagedDatabases'], 'damaged database')} set aside and rebuilt from the log"
        yield Finding("database", "problem", message, f"remove {state['database']}.damaged-* once you miss nothing")


def _rescued(rescued: RescuedRows, database: str) -> Iterator[Finding]:
    """What a rebuild found in the database that was set aside and nowhere else: the log has lost it."""
    if rescued["events"] or rescued["rest"]:
        what = f"{count(rescued['events'], 'event')} and {count(rescued['rest'], 'other row')}"
        message = f"the log had lost {what}; they were taken over from the database that was set aside"
        yield Finding("log", "problem", message, "check the disk, and who deletes files there")
    if rescued["left"]:
        message = f"{count(rescued['left'], 'event')} of the database that was set aside did not pass the check"
        yield Finding("database", "problem", message, f"look at {database}.damaged-*; nothing else has them")


def _summaries(state: State) -> Iterator[Finding]:
    backend, embedder = state["backend"], state["embedder"]
    if backend["state"] not in AT_REST:
        remedies = [each["remedy"] for each in state["backends"] if each["name"] == backend["name"].partition(":")[0]]
        message = f"{backend['name']} is {backend['state']}: {backend['lastError'] or 'no reason given'}"
        remedy = next(filter(None, remedies), "events stay raw and are tried again; see `mem config memory.backend`")
        yield Finding("backend", "problem", message, remedy)
    if embedder["state"] not in AT_REST:
        message = f"{embedder['name']}: {embedder['state']}"
        yield Finding("embedder", "problem", message, "search goes on by words only")
    for each in state["parked"]:
        message = f"{count(each['count'], 'event')} {each['status']}: {each['reason']}"
        if each["status"] == "skipped":
            yield Finding("summaries", "note", message, "`mem retry --all` tries again")
        else:
            yield Finding("summaries", "problem", message, "they are tried again by themselves; `mem drain` tries now")


def _erasing(state: State) -> Iterator[Finding]:
    remedy = "close what holds it; it is tried again at every tick, or by `mem drain`"
    for holder in state["forget"]["pending"]:
        message = f"what was forgotten is not yet gone from every file: {holder}"
        yield Finding("forget", "problem", message, remedy)
    for holder in state.get("scrub", {}).get("pending", ()):
        yield Finding("scrub", "problem", f"not everything is scrubbed yet: {holder}", remedy)


def _folder(state: State) -> str:
    return str(state["database"]).rpartition("/")[0]


def _marker_file(socket: str, suffix: str) -> str:
    return socket.removesuffix(".sock") + suffix
