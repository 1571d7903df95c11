"""`mem info`: the state of this workspace's memory. Never starts a daemon."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.diagnose.marker_files import read_marker_files
from siftd.cli.diagnose.states import find_abnormal
from siftd.cli.output import clean, count, format_bytes, format_duration, note, paint, say, say_json
from siftd.errors import DaemonUnreachable
from siftd.finding import Finding
from siftd.wire.asking import Info
from siftd.wire.workspace_client import ANSWER_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.cli.diagnose.marker_files import State
    from siftd.wire.requests import DaemonState, Tokens


RULES_SHOWN = 8


def add_arguments(parser: ArgumentParser) -> None:
    pass


def run(context: Context, options: Namespace) -> int:
    state = read_state(context)
    abnormal = list(find_abnormal(state))
    if state["config"]["problem"]:
        abnormal.append(Finding("config", "problem", state["config"]["problem"], f"correct {context.home.config}"))
    if options.json:
        say_json(state | {"abnormal": [finding.as_json() for finding in abnormal]})
        return 0
    for name, value in _lines(state):
        say(f"{paint(f'{name:<10}', 'dim')}  {clean(value)}")
    for finding in abnormal:
        say(paint(f"{finding.state:<10}  {clean(finding.message)}", "yellow" if finding.state == "problem" else "dim"))
        if finding.remedy:
            say(f"{'':<10}  {paint(f'→ {clean(finding.remedy)}', 'bold')}")
    if not state["daemon"]["running"]:
        note("mem: no daemon runs; these are the counts of its database")
    return 0


def read_state(context: Context) -> State:
    """Return the daemon's own account, else what its files say."""
    client = context.find_running()
    if client is not None:
        with client:
            try:
                return {**client.request(Info(), timeout=ANSWER_SECONDS), **read_marker_files(context.paths)}
            except DaemonUnreachable:
                pass  # it has just ended
    from siftd.cli.diagnose.offline import read_files

    return {**read_files(context), **read_marker_files(context.paths)}


def _lines(state: State) -> list[tuple[str, str]]:
    counts, log, captures = state["counts"], state["log"], state["captures"]
    embedder, backend = state["embedder"], state["backend"]
    return [
        ("workspace", f"{state['workspace']['root']} ({state['workspace']['key']})"),
        ("daemon", _daemon(state["daemon"])),
        (
            "events",
            f"{counts['events']:,}: {counts['raw']:,} raw, {counts['summarized']:,} summarized,"
            f" {counts['skipped']:,} skipped",
        ),
        (
            "summaries",
            f"{counts['summaries']:,}: {counts['embeddings']:,} embedded, {counts['superseded']:,} superseded",
        ),
        ("memories", f"{counts['memories']:,}"),
        *_notes(state),
        *_documents(state),
        *_team(state),
        ("backend", " ".join(filter(None, (backend["name"], backend["state"], backend["lastError"])))),
        ("tokens", _tokens(state.get("tokens"))),
        ("embedder", f"{embedder['name']} {embedder['state']}"),
        (
            "captures",
            f"{captures['accepted']:,} accepted, {captures['duplicates']:,} duplicates,"
            f" {captures['rejected']:,} rejected, {captures['spooled']:,} by the spool" + _dropped(captures),
        ),
        ("redacted", _redacted(state["redactions"])),
        ("waiting", f"{count(state['spool']['files'], 'file')} in the spool, {state['dropped']:,} dropped"),
        (
            "log",
            f"{count(log['segments'], 'segment')}, {format_bytes(log['bytes'])}, applied to {log['appliedSeq']:,}",
        ),
        ("database", state["database"]),
        ("socket", state["socket"]),
    ]


def _documents(state: State) -> list[tuple[str, str]]:
    documents = state.get("documents")
    if not documents or not documents["count"]:
        return []
    return [("documents", f"{documents['count']:,} in {count(documents['chunks'], 'chunk')}")]


def _team(state: State) -> list[tuple[str, str]]:
    team = state.get("team")
    if not team:
        return []
    from siftd.cli.team_page import team_words

    return [("team", team_words(team))]


def _notes(state: State) -> list[tuple[str, str]]:
    notes = state.get("notes")
    if not notes or not notes["files"]:
        return []
    return [("notes", f"{notes['entries']:,} in {count(notes['files'], 'file')}")]


def _dropped(captures: dict[str, int]) -> str:
    """Tell what was answered as kept and is not there, which is right only if somebody wanted it so."""
    reasons = {"forgotten": "dropped as forgotten", "off": "dropped while capture was off"}
    return "".join(f", {captures[name]:,} {reason}" for name, reason in reasons.items() if captures.get(name))


def _tokens(tokens: Tokens | None) -> str:
    if tokens is None:
        return "(needs a running daemon)"
    cap = f"{tokens['spent']:,} of {tokens['cap']:,} spent remotely today, {tokens['left']:,} left"
    local = sum(each["tokens"] for each in tokens["byBackend"] if not each["isRemote"])
    parts = [cap if tokens["cap"] or tokens["spent"] else "nothing may be spent remotely"]
    parts += [f"{local:,} by models on this machine"] if local else []
    parts += [f"{count(tokens['cacheHits'], 'answer')} from the cache"] if tokens["cacheHits"] else []
    return ", ".join(parts)


def _daemon(daemon: DaemonState) -> str:
    if not daemon["running"]:
        return "not running"
    size, since = format_bytes(daemon["rssBytes"] or 0), format_duration(daemon["uptimeMs"] or 0)
    return f"up {since}, pid {daemon['pid']}, {size}, version {daemon['version']}"


def _redacted(by_rule: dict[str, int]) -> str:
    shown = [f"{name} {number:,}" for name, number in by_rule.items()]
    more = f", {len(shown) - RULES_SHOWN} more rules in --json" if len(shown) > RULES_SHOWN else ""
    return f"{sum(by_rule.values()):,}" + (f": {', '.join(shown[:RULES_SHOWN])}{more}" if shown else "")
