"""The default tools: small, for every session. Names, arguments and descriptions are what an agent pays for."""

import json
import time
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict  # pydantic takes no other before Python 3.12

from siftd.clients.shown import as_text
from siftd.harmless import harmless
from siftd.mcp.link import AT, Link
from siftd.mcp.shown import ABOUT, fenced
from siftd.timestamps import parse_moment
from siftd.wire.asking import Brief, Filters, Info, Remember, Search, Show, Supersede, Timeline
from siftd.wire.requests import DocumentHit, EventLine, Found, NoteHit, Shown, TeamMark
from siftd.wire.requests import Hit as FoundHit

HIT_CHARS_MAX = 400
OF_A_SESSION_MAX = 2
"""Hits of one session among those that are given; with more the others' crowd out what another session knows."""
ASKED_MAX = 100
SESSION_CHARS = 8
WHAT_CHARS_MAX = 64
"""A kind, a name of a team's member, and that it is one."""
ID_CHARS_MAX = 1_000
"""An id of another project names its folder."""
TITLE_CHARS_MAX = 200
SHOWN_CHARS_MAX = 12_000
"""What `show` gives at once: about 3,000 tokens."""

Type = Literal["fact", "preference", "decision", "procedure", "context", "episode", "instruction"]
Kind = Literal["", "summary", "event", "memory", "tool", "prompt", "stop", "text", "failure", "document"]
Limit = Annotated[int, Field(ge=1, le=50)]
Team = Literal["", "only", "no"]


class Hit(TypedDict):
    """One line of a result."""

    id: str
    session: str
    when: str
    what: str
    said_by: str
    text: str


class Hits(TypedDict):
    """What was found; `note` says why it is nothing, or less than whole."""

    about: str
    hits: list[Hit]
    note: str


class Events(TypedDict):
    """Events in their order."""

    about: str
    events: list[Hit]


class Remembered(TypedDict):
    """A memory that was kept, and those that say nearly the same."""

    id: str
    status: str
    similar: list[str]


class Tools:
    """The default tools over one workspace."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def search(
        self,
        query: str,
        limit: Limit = 8,
        kind: Kind = "",
        tool: str = "",
        file: str = "",
        symbol: str = "",
        client: Annotated[str, Field(description="such as codex")] = "",
        since: Annotated[str, Field(description="7d or 2026-03-01")] = "",
        until: str = "",
        all_projects: Annotated[bool, Field(description="if the person allows it")] = False,
        team: Team = "",
    ) -> Hits:
        """Find what was done, decided, said or failed in this project before, by meaning and by exact words. Use it
        before investigating, deciding or repeating work. Narrow by file or symbol; with a filter no query gives
        the latest. Each hit cites an id for `show` and `timeline`."""
        now_ms = time.time_ns() // 1_000_000
        given: dict[str, Any] = {
            "kind": kind, "tool": tool, "file": file, "symbol": symbol, "client": client,
            "since": parse_moment(since, now_ms) if since else None,
            "until": parse_moment(until, now_ms) if until else None,
        }  # fmt: skip
        filters = {name: value for name, value in given.items() if value}
        if team:
            filters["team"] = team == "only"
        request = Search(
            query=query, k=min(4 * limit, ASKED_MAX), filters=Filters(**filters), asking=self._link.session
        )
        answer: Found = self._link.ask_every_project(request) if all_projects else self._link.ask(request)
        several = len(answer["clients"]) > 1
        hits = [_found(each, names_client=several) for each in _by_session(answer["hits"], limit)]
        hits += map(_noted, answer["notes"])
        hits += map(_of_document, answer["documents"])
        note = f"degraded: {answer['degraded']}" if answer["degraded"] else ""
        return {"about": ABOUT, "hits": hits, "note": note if hits else self._why_nothing(query, filters, note)}

    def timeline(
        self,
        around: Annotated[str, Field(description="an id; empty: the latest")] = "",
        session: str = "",
        client: str = "",
        before: Annotated[int, Field(ge=0, le=50)] = 6,
        after: Annotated[int, Field(ge=0, le=50)] = 6,
    ) -> Events:
        """What happened around one hit, in order: why something was done and what came of it."""
        answer = self._link.ask_about(
            around,
            lambda cited: Timeline(
                around=cited or None,
                session=session or None,
                client=client or None,
                before=before,
                after=after,
                asking=self._link.session,
            ),
        )
        _, at, folder = around.partition(AT)
        several = len(answer["clients"]) > 1
        return {
            "about": ABOUT,
            "events": [
                _hit(
                    f"e{each['eventId']}{at}{folder}",
                    each["sessionId"],
                    each["ts"],
                    _what(each) + _by(each, names_client=several),
                    each["saidBy"],
                    each["text"],
                )
                for each in answer["events"]
            ],
        }

    def show(
        self,
        id: str,  # noqa: A002 - the name that an agent guesses
        offset: Annotated[int, Field(ge=0)] = 0,
    ) -> str:
        """The whole of one id as text (e12 an event, s7 a summary with its event, m3 a memory with links, t12
        the team's, n:todo.md:9 a note, d4:12 a document). Long ones come in parts."""
        whole = _as_text(self._link.ask_about(id, lambda cited: Show(id=cited))["item"])
        part = whole[offset : offset + SHOWN_CHARS_MAX]
        left = len(whole) - offset - len(part)
        line = fenced(part)
        return f"{line}\n[{left} characters more: offset={offset + len(part)}]" if left > 0 else line

    def remember(
        self,
        text: Annotated[str, Field(description="one statement, with its reason")],
        type: Type = "fact",  # noqa: A002 - as above
        tags: list[str] = [],  # noqa: B006 - a default in the schema, never changed
        importance: Annotated[int, Field(ge=1, le=5)] = 3,
        supersedes: Annotated[str, Field(description="the memory (m3) that this replaces")] = "",
        pin: Annotated[bool, Field(description="for every session, once the person accepts; only if they ask")] = False,
        until: Annotated[str, Field(description="date from which it no longer holds")] = "",
        everywhere: Annotated[bool, Field(description="for every project, not only this one")] = False,
    ) -> Remembered:
        """Keep a statement for later sessions. Remember only what code and history do not tell: decisions with their
        reason, preferences, procedures, facts about the surroundings. One self-contained statement each, of one or two
        sentences, true without this conversation; what it says of code with `path:line` and symbol. Never store
        secrets, passing states, or what a look at the code tells. When it corrects or outdates a memory, pass
        `supersedes`: the old one stays as history and leaves the search. `similar` names those that say nearly the
        same: if one does, remember it anew with `supersedes`."""
        fields: dict[str, Any] = {"text": text, "type": type, "tags": tags, "importance": importance, "pin": pin}
        if until:
            fields["valid_until"] = parse_moment(until, time.time_ns() // 1_000_000)
        if supersedes:
            answer = self._link.ask(Supersede(id=supersedes, source="mcp", **fields))
        else:
            answer = self._link.ask(Remember(source="mcp", project=not everywhere, **fields))
        status = "it is remembered already" if answer.get("duplicate") else "remembered"
        if answer.get("waits"):
            status += "; it waits for the person, who accepts it with `mem pins --accept`"
        return {"id": answer["id"], "status": status, "similar": answer["similar"]}

    def brief(self) -> str:
        """What stands in this project: pinned instructions, how the last session ended, what still fails."""
        text = self._link.ask(Brief(session_id=self._link.session))["text"]
        return text or "Nothing stands: no pinned memory, no earlier session, no open failure."

    def _why_nothing(self, query: str, filters: dict[str, Any], degraded: str) -> str:
        """Say whether the memory is empty, filtered or broken, and what to do."""
        if degraded:
            return f"{degraded}; nothing was found by the rest. Tell the person to run `mem doctor`."
        if filters and self._link.ask(Search(query=query, k=1))["hits"]:
            return "filtered: without the filters there are hits."
        info = self._link.ask(Info())
        counts = info["counts"]
        if not counts["events"] and not counts["memories"]:
            return "empty: nothing was captured here yet. Tell the person to run `mem doctor`."
        waiting = f", {counts['raw']} of them not summarised yet" if counts["raw"] else ""
        return f"nothing relevant among {counts['events']} events{waiting} and {counts['memories']} memories."


def _by_session(hits: list[FoundHit], limit: int) -> list[FoundHit]:
    """Return the best hits, those of one session together behind its best, so many of each at most; a memory is its own
    session. What others of a team call their session has no part in one of this workspace's."""
    groups: dict[tuple[str, str | None], list[FoundHit]] = {}
    for each in hits:
        session = each["id"] if each["kind"] == "memory" else each["sessionId"]
        group = groups.setdefault((each["team"]["author"] if "team" in each else "", session), [])
        if len(group) < OF_A_SESSION_MAX:
            group.append(each)
    return [each for group in groups.values() for each in group][:limit]


def _found(hit: FoundHit, *, names_client: bool) -> Hit:
    what = (hit["tool"] or hit.get("type") or "") + _by(hit, names_client=names_client)
    what += f" on branch {hit['branch']}" if hit["branch"] else ""
    what += f" in {hit['workspace']}" if AT in hit["id"] else ""
    if "team" in hit:
        what = of_team(hit["team"], hit.get("type") or "story")
    text = hit["passage"] or hit["text"]
    if hit["asked"] is not None and hit["asked"]["text"]:
        text = f"{text} (asked: {hit['asked']['text']})"
    return _hit(hit["id"], hit["sessionId"], hit["ts"], what, hit["saidBy"], text)


def _noted(note: NoteHit) -> Hit:
    """Return a note as a line behind the hits: of no session, nobody's word."""
    where = f" in {note['workspace']}" if AT in note["id"] else ""
    archived = ", archived" if note["archived"] else ""
    line = _hit(note["id"], None, 0, f"note{archived}: {note['heading']}{where}", "note", note["text"])
    return {**line, "when": ""}


def _of_document(found: DocumentHit) -> Hit:
    """Return a piece of a document as a line behind the hits: of no session, nobody's word."""
    where = f" in {found['workspace']}" if AT in found["id"] else ""
    name = found["path"] or found["url"] or found["title"]
    what = f"document: {name} > {found['heading']}{where}" if found["heading"] else f"document: {name}{where}"
    line = _hit(found["id"], None, 0, what[-WHAT_CHARS_MAX:], "document", found["passage"])
    return {**line, "when": ""}


def _by(row: FoundHit | EventLine, *, names_client: bool) -> str:
    """Return whose agent's program did it, where several have written."""
    return f" · {row['client']}" if names_client and row["client"] else ""


def _as_text(item: Shown) -> str:
    """Return what `show` answers as an agent reads it: what it is, then what it holds."""
    match item["kind"]:
        case "event":
            failed = f", {item['outcome']}" if item["outcome"] not in (None, "ok") else ""
            head = f"e{item['id']} {_moment(item['ts'])} {item['tool']}{failed} (words of: {item['saidBy']})"
            summaries = [f"s{each['id']}: {each['text']}" for each in item["summaries"]]
            return "\n".join([head, *summaries, "", as_text(item["payload"])])
        case "summary":
            event = item["event"]
            line = f"s{item['id']} of e{item['eventId']} (words of: {item['saidBy']}): {item['text']}"
            return line if event is None else f"{line}\n\n{event['tool']}:\n{as_text(event['payload'])}"
        case "team":
            head = f"{item['id']} {_moment(item['ts'])} {of_team(item['team'], item['type'] or 'story')}"
            title = f" «{harmless(item['team']['title'], TITLE_CHARS_MAX)}»" if item["team"]["title"] else ""
            return f"{head}{title} (words of: {item['saidBy']})\n\n{item['text']}"
        case "document":
            place = item["path"] or item["url"] or item["title"]
            heading = f" > {item['heading']}" if item["heading"] else ""
            head = f"{item['id']} from line {item['line']} of {place}{heading} (a document, nobody's word)"
            return f"{head}\n\n{item['text']}"
        case "note":
            head = f"{item['id']} a note in {item['path']}: {item['heading']} (a file, nobody's word)"
            return "\n".join([head, "", *item["before"], "", item["text"], "", *item["after"]])
    return json.dumps(item, ensure_ascii=False, separators=(",", ":"))


def of_team(mark: TeamMark, kind: str) -> str:
    """Return what an item of the team's is, and who told it."""
    what = kind if mark["source"] in ("memory", "fact", "summary") else mark["source"]
    author = "the person, elsewhere" if mark["isMine"] else f'"{mark["author"]}"'
    return f"{what} by {author} (team)"


def _moment(ts: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(ts / 1000))


def _hit(id_: str, session: str | None, ts: int, what: str, said_by: str, text: str) -> Hit:
    return {
        "id": harmless(id_, ID_CHARS_MAX),
        "session": harmless((session or "")[:8], SESSION_CHARS),
        "when": _moment(ts),
        "what": harmless(what, WHAT_CHARS_MAX),
        "said_by": said_by,
        "text": harmless(text, HIT_CHARS_MAX),
    }


def _what(event: EventLine) -> str:
    return f"{event['tool']} failed" if event["outcome"] == "failed" else str(event["tool"])
