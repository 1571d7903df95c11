"""How a person sees hits on a terminal: by session, the answer first, a few wrapped lines each.

d614c3b5  3 days ago (2026-11-20 14:02)
  s34  turn   Expired tokens are rejected now: validate_token compares exp with the
              clock, because decode() drops it
              asked: Expired session tokens are accepted. Find out why and fix it.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import textwrap
import time

from siftd.cli.output import clean, format_time, is_terminal, one_line, paint, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from siftd.wire.requests import DocumentHit, EventLine, Goal, Hit, NoteHit, TeamMark

LINES_MAX = 4
"""Of one hit, unless all of it is wanted."""
ASKED_LINES_MAX = 2
LINES_OF_A_GOAL = 2
_LABEL_WIDTH = 9
_LABELS = {
    "prompt": "prompt", "turn_end": "turn", "subagent_end": "agent", "assistant_text": "said", "compaction": "account",
    "run": "ran", "edit": "edit", "read": "read", "search": "search", "web": "web", "agent": "agent", "ask": "asked",
    "plan": "plan", "todo": "plan",
}  # fmt: skip
"""By an event's kind, a call's by its action."""
_WORD = re.compile(r"\w{1,100}")
_DAY = 86_400


def say_hits(hits: Sequence[Hit], query: str, *, is_full: bool, names_clients: bool = False) -> None:
    """Print hits under the sessions that they are of, in the order of the first hit of each; of a session whose agent's
    program it was, where several have written."""
    sessions: dict[tuple[str, str, str | None], list[Hit]] = {}
    for hit in hits:
        session = None if hit["kind"] == "memory" else hit["sessionId"]
        by = author_of(hit["team"]) if "team" in hit else ""
        sessions.setdefault((hit.get("workspace", ""), by, session), []).append(hit)
    words = _words(query)
    width = max(40, min(columns(), 120))
    for number, ((workspace, by, session), theirs) in enumerate(sessions.items()):
        if number:
            say()
        head = f"{clean(workspace)}  " if workspace else ""
        head += f"{by}  " if by else ""
        label = "of the team" if by else "kept on purpose"
        head += label if session is None else f"{clean(session)[:8]}  {_ago(theirs[0]['ts'])}"
        if names_clients and (client := theirs[0]["client"]):
            head += f" · {clean(client)}"
        if branch := theirs[0]["branch"]:
            head += f"  on {clean(branch)}"
        say(paint(head, "dim"))
        for hit in theirs:
            _say_hit(hit, words, width, is_full=is_full)
    if hits:
        where = f"--workspace {shlex.quote(hits[0]['workspace'])} " if "workspace" in hits[0] else ""
        say(paint(f"\n`mem {where}show {hits[0]['id']}` shows all of one", "dim"))


def author_of(mark: TeamMark) -> str:
    """Return who told an item of the team's; a name between quotation marks, since somebody's may be "you"."""
    return "you, on another device" if mark["isMine"] else f'"{clean(mark["author"])}"'


def say_notes(notes: Sequence[NoteHit], query: str, *, is_full: bool) -> None:
    """Print notes behind the hits, each under the headings that it stands below."""
    words = _words(query)
    width = max(40, min(columns(), 120))
    say(paint("notes, which people and siftd write", "dim"))
    for note in notes:
        where = f"{clean(note['workspace'])}  " if "workspace" in note else ""
        archived = "  archived" if note["archived"] else ""
        say(f"  {paint(note['id'], 'cyan')}  {paint(where + clean(note['heading']) + archived, 'dim')}")
        for line in _wrapped(" ".join(note["text"].split()), max(20, width - 6), sys.maxsize if is_full else LINES_MAX):
            say(f"      {_bright(line, words)}")


def say_documents(documents: Sequence[DocumentHit], query: str, *, is_full: bool) -> None:
    """Print pieces of documents behind the hits, each with its document and the headings that it stands below."""
    words = _words(query)
    width = max(40, min(columns(), 120))
    say(paint("documents that were read in", "dim"))
    for found in documents:
        where = f"{clean(found['workspace'])}  " if "workspace" in found else ""
        say(f"  {paint(found['id'], 'cyan')}  {paint(where + place_of(found), 'dim')}")
        text = " ".join((found["text"] if is_full else found["passage"]).split())
        for line in _wrapped(text, max(20, width - 6), sys.maxsize if is_full else LINES_MAX):
            say(f"      {_bright(line, words)}")


def place_of(found: DocumentHit) -> str:
    """Return where a piece of a document stands: its file or page, and the headings above it."""
    name = found["path"] or found["url"] or found["title"]
    return clean(f"{name}: {found['heading']}" if found["heading"] else name)


def say_events(events: Sequence[EventLine], *, is_full: bool) -> None:
    """Print events of one session in their order."""
    width = max(40, min(columns(), 120))
    for event in events:
        _say_hit(_as_hit(event), frozenset(), width, is_full=is_full)


def _as_hit(event: EventLine) -> Hit:
    """Return an event of a session as a hit that nobody looked for."""
    return {
        "id": f"e{event['eventId']}",
        "kind": "event",
        "eventId": event["eventId"],
        "sessionId": event["sessionId"],
        "eventKind": event["eventKind"],
        "tool": event["tool"],
        "action": event["action"],
        "ts": event["ts"],
        "saidBy": event["saidBy"],
        "branch": event["branch"],
        "client": event["client"],
        "score": 0.0,
        "text": event["text"],
        "passage": None,
        "asked": None,
        "why": {},
    }


def say_in_short(goals: Sequence[Goal], left_open: str, indent: str, most: int) -> None:
    """Print a session's last goals, each with what came of it, and what is open."""
    for goal in goals[-most:]:
        asked = f"{goal['asked']} → " if goal["asked"] else ""
        say_wrapped(f"{indent}- ", f"{indent}- ", f"{asked}{goal['outcome']}", LINES_OF_A_GOAL)
    if left_open:
        say_wrapped(f"{indent}- open: ", f"{indent}- {paint('open:', 'yellow')} ", left_open, LINES_OF_A_GOAL)


def say_wrapped(head: str, painted: str, text: str, lines_max: int) -> None:
    """Print a text behind a head that is as wide as `head`, in a few lines on a terminal, else in one."""
    if not is_terminal():
        say(f"{painted}{one_line(text)}")
        return
    lines = _wrapped(text, max(20, columns() - len(head)), lines_max)
    for number, line in enumerate(lines):
        say((" " * len(head) if number else painted) + line)


def parts_of(hit: Hit) -> tuple[str, str]:
    """Return what answers, and what was asked where a turn or a session says it: its text is "question → answer"."""
    text = " ".join(hit["text"].split())
    asked, arrow, answer = text.partition(" → ")
    is_story = hit.get("scope") in ("turn", "session") or hit["eventKind"] in ("turn_end", "subagent_end")
    if not (is_story and arrow):
        asked, answer = "", text
    if hit["asked"] is not None and hit["asked"]["text"]:
        asked = f"Asked: {hit['asked']['text']}"
    return " ".join((hit["passage"] or answer).split()), asked


def _say_hit(hit: Hit, words: frozenset[str], width: int, *, is_full: bool) -> None:
    answer, asked = parts_of(hit)
    indent = 2 + max(5, len(hit["id"]) + 1) + _LABEL_WIDTH
    room = max(20, width - indent)
    most = sys.maxsize if is_full else LINES_MAX - bool(asked)
    lines = _wrapped(answer, room, most)
    label = clean(_label(hit))[: _LABEL_WIDTH - 1].ljust(_LABEL_WIDTH)
    head = f"  {paint(hit['id'].ljust(indent - 2 - _LABEL_WIDTH), 'cyan')}{paint(label, 'dim')}"
    for number, line in enumerate(lines):
        say((" " * indent if number else head) + _bright(line, words))
    for line in _wrapped(asked, room, sys.maxsize if is_full else ASKED_LINES_MAX) if asked else ():
        say(" " * indent + paint(line, "dim"))


def _label(hit: Hit) -> str:
    """Return in one short word what a hit is."""
    if "team" in hit and hit["team"]["source"] not in ("memory", "fact", "summary"):
        return hit["team"]["source"]
    if hit["kind"] == "memory":
        return str(hit["type"])
    if hit.get("scope") == "session":
        return "session"
    tool = hit["tool"] or ""
    return _LABELS.get(hit["action"] or hit["eventKind"] or "") or tool.rpartition("__")[2].lower()


def _wrapped(text: str, width: int, most: int) -> list[str]:
    lines = textwrap.wrap(clean(text), width, break_on_hyphens=False) or [""]
    if len(lines) > most:
        lines = lines[:most]
        lines[-1] = f"{lines[-1][: width - 1].rstrip('…')}…"
    return lines


def _words(query: str) -> frozenset[str]:
    """Return the beginnings by which words of a question are known again in another form."""
    found = (word.casefold() for word in _WORD.findall(query))
    return frozenset(word[:-2] if len(word) > 6 else word for word in found if len(word) > 3)


def _bright(line: str, words: frozenset[str]) -> str:
    def shown(match: re.Match[str]) -> str:
        word = match[0]
        return paint(word, "bold") if word.casefold().startswith(tuple(words)) else word

    return _WORD.sub(shown, line) if words else line


def _ago(ts: int) -> str:
    """Return how long ago something was, and when."""
    days = int(time.time() // _DAY - ts // 1000 // _DAY)
    said = "today" if days <= 0 else "yesterday" if days == 1 else f"{days} days ago"
    if days >= 60:
        said = f"{days // 30} months ago"
    return f"{said} ({format_time(ts)})"


def columns() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except OSError:  # no terminal: nothing is to fit
        return 80
