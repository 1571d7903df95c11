"""What a piece of the store says in a session that did not ask for it.

Words of a person and of an agent stand in quotation marks behind who said them. Words of output and from outside stand
nowhere: the fact, in our own words, and the id by which they can be had. What an agent said on its way, after it had
read something of this machine, is quoted where the words are its own (`siftd.search.wording`).
"""

from __future__ import annotations

from typing import NamedTuple

from siftd.capture.truncate import LEFT_OUT
from siftd.harmless import harmless
from siftd.search.own_words import changed_files, command_words, fact_of, name_of
from siftd.search.wording import is_own_wording, own_sentences
from siftd.store import summaries, turn_summaries
from siftd.store.access import Database
from siftd.store.commands import command_key
from siftd.store.fact_scope import OWNER
from siftd.store.payload import find_object, texts_of
from siftd.store.summaries import RawEvent
from siftd.summarise.extractive import shell
from siftd.summarise.extractive.text import call_of
from siftd.summarise.extractive.words import informative
from siftd.summarise.items import as_item
from siftd.wire.requests.finding import Hit

PROMPT_CHARS_MAX = 110
CLOSING_CHARS_MAX = 260
READ_BYTES_MAX = 256 * 1024
"""Of what was read in a turn, that is looked through before the agent's words on it are quoted: some 30 ms."""
_QUOTED = ("person", "agent")


class Words(NamedTuple):
    """What a hit says."""

    text: str
    conclusion: str = ""
    """Of the text, what somebody is quoted with who concluded something; empty where only facts are told."""
    speaker: str = ""
    """Who said that, and when: "the agent closed with"."""


def words_of(connection: Database, hit: Hit) -> Words:
    """Return what a hit says: quoted where its words may be, else what it is and how to read it."""
    if hit["kind"] == OWNER:
        return _memory(hit)
    event = summaries.find_event(connection, hit["eventId"] or 0)
    if event is None:
        return Words(f"`show {hit['id']}`")
    if event.kind == "prompt" and hit["scope"] == "event":
        asked = _asked(str((find_object(event.payload_json) or {}).get("prompt", "")), event.said_by)
        return Words(asked or _more("a prompt that no hook of ours told", hit["id"], "it"))
    if event.kind == "turn_end" or hit["scope"] == "session":
        return _story(connection, event, hit)
    if event.kind == "assistant_text" and (said := _sayable(connection, event, hit, hit["text"])):
        return _quoted("the agent said", harmless(said, CLOSING_CHARS_MAX))
    if hit["saidBy"] in _QUOTED:
        return _quoted("the agent noted", harmless(hit["text"], CLOSING_CHARS_MAX))
    return Words(_more(fact_of(event), hit["id"], "what it said"))


def _quoted(who: str, said: str) -> Words:
    return Words(f"{who}: «{said}»", said, who)


def _sayable(connection: Database, event: RawEvent, hit: Hit, otherwise: str) -> str:
    """Return what may be quoted of what an agent said: all that answers, or what of it is its own."""
    said = str(hit.get("passage") or otherwise)
    if hit["saidBy"] in _QUOTED or event.said_by not in _QUOTED:
        return said if hit["saidBy"] in _QUOTED else ""
    read = turn_summaries.read_before(connection, event, READ_BYTES_MAX)
    if read is None or any(LEFT_OUT in each for each in read):  # what is not there cannot be compared
        return ""
    texts = [" ".join(texts_of(find_object(each))) for each in read]
    payload = find_object(event.payload_json) or {}
    if event.kind == "assistant_text":
        return said if is_own_wording(str(payload.get("text", "")), texts) else ""
    return " ".join(own_sentences(said, str(payload.get("last_assistant_message", "")), texts))


def on_branch(branch: str | None, here: str | None) -> str:
    """Return on which branch something was, where that is another one than `here`; its name as a file's."""
    return f" on branch {name_of(branch)}" if branch and branch != here else ""


def deeds(connection: Database, session_id: str, after: int, upto: int, cwd: str | None) -> str:
    """Return what a part of a session did, in our own words: files, and the last command that did more than look."""
    parts = [changed_files(turn_summaries.list_files(connection, session_id, after, upto), cwd)]
    for event_id in turn_summaries.list_commands(connection, session_id, after, upto):
        event = summaries.find_event(connection, event_id)
        if event is not None and (ran := _ran(event)):
            parts.append(ran)
            break
    return "; ".join(filter(None, parts))


def ran(event: RawEvent) -> str:
    """Return a command and how it ended."""
    call = call_of(as_item(event))
    return f"`{command_words(shell.command_of(call))}` {shell.verdict_of(call)}"


def _ran(event: RawEvent) -> str:
    payload = find_object(event.payload_json) or {}
    command = (payload.get("tool_input") or {}).get("command") if isinstance(payload.get("tool_input"), dict) else None
    return ran(event) if isinstance(command, str) and command_key(command) else ""


def _story(connection: Database, event: RawEvent, hit: Hit) -> Words:
    """What was asked, if a person or a transcript says so; what was done; how it ended, if that was the agent's own."""
    is_session = hit["scope"] == "session"
    after = 0 if is_session else turn_summaries.turn_before(connection, event.session_id, event.id)
    prompt, said_by = turn_summaries.find_prompt(connection, event.session_id, after, event.id)
    done = deeds(connection, event.session_id, after, event.id, event.cwd)
    parts = [_asked(prompt, said_by), done]
    closing = (find_object(event.payload_json) or {}).get("last_assistant_message")
    said = closing if isinstance(closing, str) else ""
    if said.strip() and (said := _sayable(connection, event, hit, _clipped(said))):
        closed = _quoted("the agent closed with", harmless(said, CLOSING_CHARS_MAX))
        return closed._replace(text="; ".join(filter(None, [*parts, closed.text])))
    what = "a session" if is_session else "a turn"
    return Words(_more("; ".join(filter(None, parts)) or what, hit["id"], "how it ended"))


def _asked(prompt: str, said_by: str) -> str:
    if not prompt.strip() or said_by not in _QUOTED:
        return ""
    who = "the person asked" if said_by == "person" else "a transcript tells that it was asked"
    return f"{who}: «{harmless(prompt, PROMPT_CHARS_MAX)}»"


def _memory(hit: Hit) -> Words:
    if hit["saidBy"] not in _QUOTED:
        return Words(_more("a memory that was imported", hit["id"], "it"))
    return _quoted(f"{'the person' if hit['saidBy'] == 'person' else 'an agent'} noted", harmless(hit["text"]))


def _clipped(closing: str) -> str:
    return harmless(informative(closing, CLOSING_CHARS_MAX), CLOSING_CHARS_MAX)


def _more(fact: str, cited: str, what: str) -> str:
    return f"{fact}: `show {cited}` for {what}"
