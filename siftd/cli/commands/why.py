"""`mem why`: why a fact is held, why an agent was given a piece, and whether its session then touched it."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import Any

from siftd.cli.context import Context
from siftd.cli.output import clean, format_time, note, one_line, paint, say, say_json
from siftd.wire.asking import FactStory, Injections

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.wire.requests import FactStoryAnswer

_SECTIONS = {
    "standing": "pinned, so it stands at the start of every session",
    "ending": "the last session ended with it",
    "failure": "it failed last and had not succeeded since",
    "team": "a member of the team holds it vital, so it stands at the start of every session",
    "kept": "it was in the kept brief, printed while no daemon ran",
}

_SAID = {
    "merge": "said again",
    "supersede": "replaced",
    "correct": "corrected",
    "contradict": "contradicted",
    "outdate": "called outdated",
    "confirm": "confirmed",
    "archive": "archived, for nobody used it",
    "revive": "brought up again",
    "promote": "made the project's",
    "rewrite": "worded anew",
}

_SESSION_CHARS = 8
"""Of a session's id: as many as tell one from another, and `mem session` takes them."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="as cited: s7, m3, e12, t12")


def run(context: Context, options: Namespace) -> int:
    answer = context.ask(Injections(id=options.id))
    is_fact = options.id.strip().lstrip("#")[:1] in ("m", "g")
    story = context.ask(FactStory(id=options.id)) if is_fact else None
    if options.json:
        say_json(answer if story is None else {**answer, "story": story})
        return 0
    if story is not None:
        _say_story(story, options.id.strip().lstrip("#")[0])
    for each in answer["injections"]:
        touched = f"e{each['touchedBy']} then worked on it" if each["touchedBy"] else "the session did not touch it"
        say(f"{format_time(each['ts'])}  {each['hook']} of {clean(each['sessionId'])}")
        say(f"  because {_reason(each['why'])}; {touched}")
    if not answer["injections"]:
        if story is not None:
            return 0
        note("mem: no agent was given this; `mem injections` lists what was")
        return 1
    return 0


def _say_story(story: FactStoryAnswer, letter: str) -> None:
    """Print what says a fact, what was said of it since, and what came of it."""
    fact, uses = story["fact"], story["uses"]
    say(paint(f"{letter}{fact['id']}  {clean(fact['text'])}", "bold"))
    until = "" if fact["validTo"] is None else f" until {format_time(fact['validTo'])}"
    sure = "" if fact["confidence"] is None else f", confidence {fact['confidence']:.2f}"
    place = "" if fact["supersededBy"] is None else f" by {letter}{fact['supersededBy']}"
    what = f"{clean(fact['type'])}, importance {fact['importance']}"
    say(f"{clean(fact['status'])}{place}, {what}, from {format_time(fact['validFrom'] or fact['ts'])}{until}{sure}")
    if fact["quote"] is not None:
        say(f"  said: {one_line(fact['quote'], 8)}")
    for each in story["sources"]:
        by = f"{clean(each['saidBy'])}, session {clean(each['sessionId'][:_SESSION_CHARS])}"
        head = f"  e{each['id']}  {format_time(each['ts'])}  {by}: "
        say(f"{head}{one_line(each['text'], len(head))}")
    if fact["origin"] == "kept":
        say(f"  kept on purpose by {clean(fact['source'] or fact['saidBy'])} at {format_time(fact['ts'])}")
    for verdict in fact["history"]:
        by = "" if verdict["by"] is None else f" by {letter}{verdict['by']}"
        why = "" if verdict["why"] is None else f": {one_line(verdict['why'], 60)}"
        say(
            f"  {format_time(verdict['ts'])}  {_SAID.get(verdict['what'], verdict['what'])}{by} ({verdict['who']}){why}"
        )
        if verdict["oldText"] is not None:
            say(f"    it said: {one_line(verdict['oldText'], 14)}")
    last = "" if uses["lastTs"] is None else f", last {format_time(uses['lastTs'])}"
    say(f"  given {uses['given']}, used {uses['used']}, confirmed {uses['confirmed']}{last}")
    for path in story["gone"]:
        say(f"  cited file is gone: {clean(path)}")


def _reason(why: dict[str, Any]) -> str:
    if why.get("section") in _SECTIONS:
        return _SECTIONS[why["section"]]
    share = why.get("share")
    ranks = ", ".join(
        f"{retriever} no. {rank}" for retriever, rank in why.items() if retriever not in ("score", "share", "item")
    )
    return f"it answers {share:.0%} of the prompt (found by {ranks})" if share is not None else json.dumps(why)
