"""`mem search`: hits, by session on a terminal, else one line each."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace

from siftd.cli.commands.info import read_state
from siftd.cli.context import Context
from siftd.cli.diagnose.states import find_abnormal
from siftd.cli.hits import author_of, parts_of, place_of, say_documents, say_hits, say_notes
from siftd.cli.numbers import positive
from siftd.cli.output import clean, count, format_time, is_terminal, note, one_line, paint, say, say_json
from siftd.errors import RequestInvalid
from siftd.wire.asking import Filters, Search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from siftd.wire.requests import DocumentHit, Found, Hit, NoteHit

KINDS = ("summary", "event", "memory", "tool", "prompt", "stop", "text", "failure", "document")
_RETRIEVERS = {
    "words": "its words",
    "raw": "the event's words",
    "trigram": "parts of words",
    "vector": "its meaning",
    "recent": "being recent",
}
_PARTS = ("own", "session", "diversity")
_BOOSTS = ("recency", "confidence", "prompt", "conclusion", "importance", "purpose", "answer")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("query", nargs="*", default=[], metavar="QUERY", help="what to find, in words of your own")
    parser.add_argument("-k", type=positive, default=10, metavar="N", help="how many hits (default: 10)")
    parser.add_argument("--tool", help="of this tool: Edit, Bash, ...")
    parser.add_argument("--session", help="of this session")
    parser.add_argument("--client", metavar="NAME", help="of this agent's program: claude-code, codex, ...")
    parser.add_argument("--file", help="about this file, or files that match a glob")
    parser.add_argument("--symbol", help="that touched this function, class or type")
    parser.add_argument("--since", metavar="WHEN", help="not before: 2d, 3h, 1w, a date, milliseconds since 1970")
    parser.add_argument("--until", metavar="WHEN", help="not after")
    parser.add_argument("--as-of", metavar="WHEN", help="as things stood then")
    parser.add_argument("--kind", choices=KINDS, help="only such hits")
    parser.add_argument(
        "--type", help="only memories of this type: decision, ...; with --kind document: markdown, code"
    )
    parser.add_argument("--source", metavar="NAME", help="of this sort: memory, fact, note; of a team's issue, ...")
    parser.add_argument(
        "--team",
        action=BooleanOptionalAction,
        default=None,
        help="only what the team shares; --no-team: nothing of it (default: both)",
    )
    parser.add_argument("--superseded", action="store_true", help="also what a newer summary hides")
    parser.add_argument("--by-session", action="store_true", help="one hit for each session, the best session first")
    parser.add_argument("--all", action="store_true", help="in every workspace's memory")
    parser.add_argument("--full", action="store_true", help="all of each hit, however many lines")
    parser.add_argument("--oneline", action="store_true", help="one line a hit, as into a pipe")
    parser.add_argument("--explain", action="store_true", help="say why each was found, and what its score is made of")


def run(context: Context, options: Namespace) -> int:
    query = " ".join(options.query)
    filters = _filters(options)
    if not query.strip() and not filters:
        raise RequestInvalid("there is nothing to search for", hint="give words, or a filter such as --since 2d")
    group = "session" if options.by_session else None
    request = Search(query=query, k=options.k, filters=Filters(**filters), group=group)
    answer: Found
    if options.all:
        from siftd.workspaces.across import search_every_project

        answer = search_every_project(context, request)
    else:
        answer = context.ask(request)
    hits, notes, documents = answer["hits"], answer["notes"], answer["documents"]
    degraded, clients = answer["degraded"], answer["clients"]
    if options.json:
        say_json({"hits": hits, "notes": notes, "documents": documents, "degraded": degraded, "clients": clients})
    else:
        if is_terminal() and not (options.oneline or options.explain):
            say_hits(hits, query, is_full=options.full, names_clients=len(clients) > 1)
            if hits and notes:
                say()
            if notes:
                say_notes(notes, query, is_full=options.full)
            if (hits or notes) and documents:
                say()
            if documents:
                say_documents(documents, query, is_full=options.full)
        else:
            for hit in hits:
                _say_hit(hit, options.explain, names_client=len(clients) > 1)
            for each in notes:
                _say_note(each)
            for document in documents:
                _say_document(document, options.explain)
        if degraded:
            note(f"mem: {clean(degraded)}")
    if hits or notes or documents:
        return 0
    if options.all:
        note("mem: no match in any workspace")
    else:
        note(f"mem: {_why_nothing(context, bool(filters))}")
    return 0


def _filters(options: Namespace) -> dict[str, Any]:
    names = ("tool", "session", "client", "file", "symbol", "kind", "type", "since", "until", "as_of", "source", "team")
    filters = {name: value for name in names if (value := getattr(options, name)) is not None}
    if times := [name for name in ("since", "until", "as_of") if name in filters]:
        import time

        from siftd.timestamps import parse_moment

        now_ms = time.time_ns() // 1_000_000
        filters |= {name: parse_moment(filters[name], now_ms) for name in times}
    return filters | {"superseded": True} if options.superseded else filters


def _say_hit(hit: Hit, is_explained: bool, *, names_client: bool) -> None:
    place = f"  {clean(hit['workspace'])}" if "workspace" in hit else ""
    by = f" · {clean(hit['client'])}" if names_client and hit["client"] else ""
    by += f" · {author_of(hit['team'])}" if "team" in hit else ""
    head = f"{hit['id']:<6}{by} {format_time(hit['ts'])}{place}  {clean(_what(hit))}"
    answer, asked = parts_of(hit)
    text = one_line(f"{answer} ({asked})" if asked else answer, used=len(head) + 2)
    say(f"{paint(hit['id'], 'cyan')}{head[len(hit['id']) :]}  {text}")
    if is_explained:
        say(paint(f"       {_explain(hit)}", "dim"))


def _say_note(found: NoteHit) -> None:
    place = f"  {clean(found['workspace'])}" if "workspace" in found else ""
    archived = ", archived" if found["archived"] else ""
    head = f"{found['id']}{place}  note{archived} ({clean(found['heading'])})"
    say(f"{paint(found['id'], 'cyan')}{head[len(found['id']) :]}  {one_line(found['text'], used=len(head) + 2)}")


def _say_document(found: DocumentHit, is_explained: bool) -> None:
    place = f"  {clean(found['workspace'])}" if "workspace" in found else ""
    head = f"{found['id']}{place}  {place_of(found)}"
    say(f"{paint(found['id'], 'cyan')}{head[len(found['id']) :]}  {one_line(found['passage'], used=len(head) + 2)}")
    if is_explained:
        found_by = " and ".join(_found_by(found["why"])) or "nothing"
        say(paint(f"       found by {found_by}; score {found['score']:.4f}", "dim"))


def _what(hit: Hit) -> str:
    """Return the tool of an event, the type of a memory, what an item is for the team, and whose words they are."""
    if "team" in hit and hit["team"]["source"] not in ("memory", "fact"):
        return f"{hit['team']['source']} ({hit['saidBy']})"
    return f"{hit['type'] if hit['kind'] == 'memory' else hit['tool']} ({hit['saidBy']})"


def _explain(hit: Hit) -> str:
    """Say what found the hit, and what its score is made of: the sum of its parts, lifted by what is known of it."""
    why = dict(hit["why"])
    found = _found_by(why)
    parts = " ".join(f"{why[name]:+.3f} {name}" for name in _PARTS if why.get(name))
    boosts = "".join(f" x (1 {why[name]:+.3f} {name})" for name in _BOOSTS if why.get(name))
    event = "" if hit["eventId"] is None else f"e{hit['eventId']}; "
    arithmetic = f" = ({parts}){boosts}" if parts else ""
    return f"{event}found by {' and '.join(found) or 'nothing'}; score {hit['score']:.4f}{arithmetic}"


def _found_by(why: dict[str, Any]) -> list[str]:
    return [
        f"{_RETRIEVERS.get(retriever, retriever)} (no. {each['rank']}, {each['score']:.2f})"
        for retriever, each in why.items()
        if isinstance(each, dict)
    ]


def _why_nothing(context: Context, is_filtered: bool) -> str:
    """Tell a memory that is not whole, an empty one, too narrow a filter and no match apart."""
    state = read_state(context)
    counts = state["counts"]
    problems = [finding.message for finding in find_abnormal(state) if finding.state == "problem"]
    if problems:
        return f"no match, and the memory is not whole: {problems[0]}; `mem doctor` says more"
    if not counts["events"] and not counts["memories"]:
        return "nothing is remembered yet in this workspace; `mem doctor` says whether capture works"
    if is_filtered:
        return f"no match with these filters among {count(counts['events'], 'event')}"
    return f"no match among {count(counts['events'], 'event')}"
