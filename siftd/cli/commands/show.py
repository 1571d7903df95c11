"""`mem show`: the whole of one event, summary, memory, note, document or item of the team's."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import clean, format_time, paint, say, say_json
from siftd.clients.shown import as_text
from siftd.wire.asking import Show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from siftd.wire.requests import (
        Memory,
        ShownDocument,
        ShownEvent,
        ShownNote,
        ShownTeamItem,
        Summary,
        SupersedingPair,
    )

_DIFF = {"- ": "red", "+ ": "green"}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "id",
        metavar="ID",
        help="e12 (or 12) an event, s7 a summary, m3 or g3 a memory, t12 the team's, n:todo.md:9 a note, d4 or d4:12"
        " a document",
    )


def run(context: Context, options: Namespace) -> int:
    item = context.ask(Show(id=options.id))["item"]
    if options.json:
        say_json(item)
    elif item["kind"] == "event":
        _say_event(item)
    elif item["kind"] == "note":
        _say_note(item)
    elif item["kind"] == "document":
        _say_document(item)
    elif item["kind"] == "team":
        _say_team_item(item)
    elif item["kind"] == "memory":
        _say_memory(item, "g" if options.id.strip().startswith(("g", "#g")) else "m")
    else:
        _say_summary(item)
        if item["event"] is not None:
            say(paint(f"\ne{item['event']['id']}  {clean(item['event']['tool'])}", "bold"))
            _say_payload(item["event"]["payload"])
    return 0


def _say_event(event: ShownEvent) -> None:
    outcome = f", {event['outcome']}" if event["outcome"] else ""
    say(paint(f"e{event['id']}  {format_time(event['ts'])}  {clean(event['tool'])}{outcome}", "bold"))
    _say_fields(
        {
            "said by": event["saidBy"],
            "session": event["sessionId"],
            "branch": event["payload"].get("_branch", "") if isinstance(event["payload"], dict) else "",
            "status": event["status"],
            "last error": event["lastError"],
            "trivial": f"{event['trivial']}; no model is asked" if event["trivial"] else "",
            **_muted(event["mutedSince"]),
            "caused by": " ".join(event["causedBy"]),
            "caused": " ".join(event["caused"]),
        }
    )
    for summary in event["summaries"]:
        say()
        _say_summary(summary)
    say()
    _say_payload(event["payload"])


def _say_payload(payload: Any) -> None:
    """Print what an event holds as text; a change in the colours of a diff."""
    is_diff = (
        isinstance(payload, dict)
        and isinstance(payload.get("tool_input"), dict)
        and "file_path" in payload["tool_input"]
    )
    for line in clean(as_text(payload)).split("\n"):
        say(paint(line, _DIFF[line[:2]]) if is_diff and line[:2] in _DIFF else line)


def _say_summary(summary: Summary) -> None:
    say(paint(f"s{summary['id']}  of e{summary['eventId']}, written {format_time(summary['ts'])}", "bold"))
    confidence = "" if summary["confidence"] is None else f" (confidence {summary['confidence']:g})"
    _say_fields(
        {
            "said by": summary["saidBy"],
            "by": f"{summary['model']}{confidence}",
            "tells": "" if summary["scope"] == "event" else f"the {summary['scope']}",
            "waits for": summary["waitsFor"],
            **_muted(summary["mutedSince"]),
            "stands on": " ".join(summary["derivesFrom"]),
            "supersedes": _pairs(summary["supersedes"], "olderId"),
            "superseded by": _pairs(summary["supersededBy"], "newerId"),
        }
    )
    say(clean(summary["text"]))


def _muted(since: int | None) -> dict[str, str]:
    return {"muted": "" if since is None else f"since {format_time(since)}: given to no agent unasked"}


def _say_memory(memory: Memory, letter: str) -> None:
    say(paint(f"{letter}{memory['id']}  {format_time(memory['ts'])}  {clean(memory['type'])}", "bold"))
    links = (f"{link['relation']} {letter}{link['toId']} (by {letter}{link['fromId']})" for link in memory["links"])
    since, until = memory["validFrom"], memory["validTo"]
    _say_fields(
        {
            "importance": memory["importance"],
            "confidence": "" if memory["confidence"] is None else f"{memory['confidence']:g}",
            "tags": ", ".join(memory["tags"]),
            "said by": memory["saidBy"],
            "pinned": "it waits for `mem pins --accept`" if memory["waits"] else "yes" if memory["pinned"] else "",
            "from": "" if since is None else format_time(since),
            "until": "" if until is None else format_time(until),
            "session": memory["sessionId"],
            "by": memory["source"],
            "links": ", ".join(links),
        }
    )
    say(clean(memory["text"]))


def _say_team_item(item: ShownTeamItem) -> None:
    """Print what somebody else's device told, with whose it is."""
    from siftd.cli.hits import author_of

    mark = item["team"]
    what = item["type"] if mark["source"] in ("memory", "fact") else mark["source"]
    say(paint(f"{item['id']}  {format_time(item['ts'])}  {clean(what or mark['source'])}", "bold"))
    by = author_of(mark) if mark["isMine"] else f"{author_of(mark)}, of the team"
    _say_fields(
        {
            "told by": by,
            "said by": "who told it" if mark["saidBy"] == "person" else mark["saidBy"],
            "title": mark["title"],
            "there": mark["url"],
            "seen by": "you alone" if mark["visibility"] == "private" else "",
            **_muted(item["mutedSince"]),
            "from": "" if item["validFrom"] is None else format_time(item["validFrom"]),
            "until": "" if item["validTo"] is None else format_time(item["validTo"]),
            "status": "" if item["status"] == "active" else item["status"],
            "replaced by": item["supersededBy"],
        }
    )
    say(clean(item["text"]))


def _say_note(note: ShownNote) -> None:
    """Print an entry of a file with the lines around it, numbered as an editor does."""
    say(paint(f"{note['id']}  {clean(note['path'])}", "bold"))
    _say_fields({"under": note["heading"], "said by": "nobody: a file that people and siftd write"})
    say()
    own = note["text"].split("\n")
    first = note["line"] - len(note["before"])
    for number, line in enumerate([*note["before"], *own, *note["after"]], first):
        shown = f"{number:>6}  {clean(line)}"
        say(shown if note["line"] <= number < note["line"] + len(own) else paint(shown, "dim"))


def _say_document(document: ShownDocument) -> None:
    """Print a document, or a piece of it, with the numbers that its lines have."""
    say(paint(f"{document['id']}  {clean(document['title'])}", "bold"))
    _say_fields(
        {
            "at": document["path"] or document["url"] or "",
            "under": document["heading"],
            "type": document["type"],
            "read in": format_time(document["ingestedTs"]),
            "said by": "nobody here: a document",
        }
    )
    say()
    for number, line in enumerate(document["text"].split("\n"), document["line"]):
        say(f"{paint(f'{number:>6}', 'dim')}  {clean(line)}")


def _say_fields(fields: dict[str, Any]) -> None:
    for name, value in fields.items():
        if value:
            say(f"{paint(f'{name:<13}', 'dim')}  {clean(' '.join(str(value).split()))}")


def _pairs(pairs: list[SupersedingPair], other: Literal["olderId", "newerId"]) -> str:
    described = (f"(cosine {pair['cosine']:.3f})" if pair["cosine"] is not None else "(by hand)" for pair in pairs)
    return ", ".join(f"s{pair[other]} {how}" for pair, how in zip(pairs, described, strict=True))
