"""No text that somebody captured costs more than its length: four times as much takes about four times as long.

Everything here sees text of strangers: a page, a repository's file, a tool's output. What is quadratic in it holds the
daemon for minutes at a few hundred KB. Each function is measured by processor time, best of several runs, on N and 4N
characters of hostile text, and may take six times as long.
"""

from __future__ import annotations

import gc
import io
import json
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from known_kinds import ONE_OF_EACH, captured, item_of
from transcripts import read_transcript

from siftd.capture.admission import Admission, encode_canonical
from siftd.capture.touched_folders import touched_folders
from siftd.capture.truncate import cut_raw, shorten
from siftd.cli import output
from siftd.clients.claude_code.facts import input_identity, settle_input, typed_prompt
from siftd.clients.claude_code.hooks import decode_envelope
from siftd.clients.media import without_media
from siftd.clients.own import block_id, ids_alone, is_own_call, without_blocks
from siftd.clients.shown import as_text
from siftd.clients.tolerant_json import decode_as
from siftd.consolidate.equivalence import says_the_same
from siftd.consolidate.indexing import facets_of
from siftd.custom_rules import parse as parse_rules
from siftd.daemon.fact_checks import check_says_something, cleaned
from siftd.embed import blend384, hash384
from siftd.embed.words import index_words, split_words
from siftd.errors import SiftdError
from siftd.exchange.format import decode as decode_exchange
from siftd.facts.extraction import extract
from siftd.facts.learnt_commands import Ended, runs_of
from siftd.facts.learnt_errors import faults_of
from siftd.facts.model import Candidate, Known, Said, Turn
from siftd.facts.verdicts import judge
from siftd.graph.git import read_printed
from siftd.graph.imports import read_imports
from siftd.graph.manifests import read_manifest
from siftd.graph.model import Found, Named
from siftd.graph.pages import read_page
from siftd.harmless import harmless, unfenced, visible
from siftd.knowledge.building import build
from siftd.knowledge.model import Seen
from siftd.knowledge.page import page
from siftd.log.segments import iter_segment
from siftd.model import Event, SaidBy
from siftd.notes.distil import asking, commits, distil, inbox
from siftd.notes.distil.forms import plain
from siftd.notes.distil.material import Answer, Commit, Fact, Material, Session
from siftd.notes.distil.written import Written
from siftd.notes.entries import without
from siftd.notes.erasing import Wanted as NotesWanted
from siftd.notes.erasing import statement_of
from siftd.notes.indexing import clean_entries
from siftd.redact import Redactor
from siftd.redact.context import expected_of, secrets_of_output
from siftd.redact.env_lines import read_assignments, secret_values
from siftd.redact.own import OwnRules
from siftd.redact.private import cut_private
from siftd.search import standing
from siftd.search.own_words import command_words, name_of
from siftd.search.passages import Wanted, passage
from siftd.search.query import Question
from siftd.search.relevance import Relevance
from siftd.search.wording import is_own_wording
from siftd.store.commands import command_key
from siftd.store.injection_ledger import first_named
from siftd.store.payload import find_object
from siftd.store.tombstones import paths_of
from siftd.summarise.answer import checked_text, read_answer, read_answers
from siftd.summarise.contract import MAX_SUMMARY_CHARS, Item
from siftd.summarise.extractive import render
from siftd.summarise.graph_answers import read_relations
from siftd.summarise.grounding import Source, unsupported_claims
from siftd.summarise.prompt import prompt_for, prompt_for_all
from siftd.summarise.salience import trivial_because
from siftd.symbols import symbols_of
from siftd.symbols.imports import imports_of
from siftd.team.sources.job_log import shortened, tools, window
from siftd.team.sources.line import Line
from siftd.team.sources.pieces import items_of
from siftd.team.sources.plain import plain as plain_source
from siftd.team.sources.reading import SUPPORTED as SOURCE_FORMS
from siftd.team.sources.reading import read as read_source
from siftd.wire.frames import FrameBuffer, encode_frame

GRAPH_OWNER = Named("project", "demo")
GRAPH_MANIFESTS = (
    "setup.cfg",
    "pyproject.toml",
    "package.json",
    "go.mod",
    "pom.xml",
    "Gemfile",
    "compose.yaml",
    "x/requirements.txt",
)
GRAPH_SOURCES = ("py", "ts", "go", "rs", "java", "rb", "php", "cs")

SMALL = 4_096
LARGEST = 65_536
"""What is quick up to here is measured no further. It is the growth that is asked for, on a machine that is shared."""
FACTOR = 6.0
GRAIN_SECONDS = 0.04
"""What takes less is not measured on: some systems count processor time in steps of 4 ms."""

UNITS = [
    "insert into t (password) values ((\n",
    "<tr><th>password\n",
    "user token\n-- -- --\n",
    "# ",
    "\\ ",
    "<<E\n",
    "</siftd-",
    "#m1 ",
    "(m1 ",
    "```\n",
    "\n  - a",
    "![",
    "\ufe0f",
    "\U000e0041",
    "< / / ",
    " \u3164",
    "«",
    "a",
    " ",
    "\n",
    "\\",
    '\\"',
    '"',
    "'",
    "`",
    "```\n",
    "(",
    "[[",
    "{",
    '{"a":',
    "<",
    "<a ",
    "<!--",
    "<private>",
    "</private>",
    "<private",
    "<siftd-memory>",
    "<siftd-memory ",
    "<siftd-memory></siftd-memory",
    "<system-reminder>",
    "<command-message></command-message>",
    "<command-message></command-message><command-name>",
    "<command-args>",
    "<think>",
    "<think></thinking",
    "cat <<EOF\n",
    "cat <<'E1'\nE2\n",
    "password",
    "password=",
    'password = "',
    "-----BEGIN PRIVATE KEY-----\n",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n",
    "AKIAIOSFODNN7EXAMPLE ",
    "ghp_",
    "ghp_0123456789abcdefghij0123456789abcdef ",
    "eyJ",
    "eyJhbGciOi.",
    "://a:b",
    "https://",
    "a@b.",
    "a@",
    "4111 1111 ",
    "--password ",
    "data:image/png;base64,",
    "\x1b[31m",
    "\x1b]",
    "\\u0022",
    "def f(",
    "class A:\n",
    "const a = (",
    "| a | b |\n",
    "*** Update File: a.py\n@@\n-a\n+b\n",
    "a.py:1: ",
    "FAILED tests/a.py::b - ",
    "Error: ",
    "    at a (b:1)\n",
    "Traceback (most recent call last):\n",
    "git commit -m '",
    "git commit ",
    "cd a && ",
    "a && b || ",
    "$(",
    "a/b/",
    "../",
    "a_b",
    "aB",
    "0",
    "1.",
    "2026-01-01 ",
    "e1 #s2 ",
    "\u200b",
    "é",
    "日本",
    "日本a",
    "e\u0301",
    "\u0301\u0327",
    "\u0f73",
    "\u0323\uff9e",
    "İ",
    "[REDACTED:password:0000]",
    "[REDACTED:",
    "mem search ",
    "mem search '",
    '"a":"b",',
    "\ud800",
]
"""Openings without ends, near misses, nesting, long runs, one-line megabytes: each repeated to the length wanted."""


RUNS = [
    ("cat <<EOF\n", "\n"),
    ("cat <<EOF\n", " "),
    ('git commit -m "$(cat <<E\n', "\n"),
    ("\x1b[", "1"),
    ("\x1b]", "a"),
    ("https://", "a"),
    ("the user said:", " "),
    ("a.", ")"),
    ("a.", " "),
    ('"title":', " "),
    ("const a", " "),
    ("const a", "="),
    ("def f", " "),
    ("`", "a"),
    ("'", "a"),
    ("password", " "),
    ("password=", "a"),
    ("password=", "\\"),
    ("Authorization: Bearer ", "a."),
    ("-----BEGIN PRIVATE KEY-----\n", "A"),
    ("-----BEGIN PRIVATE KEY-----\n", "A\n"),
    ("<private ", "a"),
    ("<siftd-memory ", "a"),
    ("<system-reminder ", "a"),
    ("<command-message>", "a"),
    ("<think>", "a"),
    ("#", " "),
    ("|", "-"),
    ("mem search ", "a "),
    ("1", ".1"),
    ("a", "_a"),
    ("a", "/"),
    ("a", "@"),
    ("a@a", "."),
    ("{", " "),
    ("data:", "a"),
    ("2026-01-01 00:00:00", " "),
]
"""An opening and a long run behind it: what begins to match and then does not end."""

ENDS = [("~", "`"), ("`", "~"), ("#", "x"), (" ", "x"), ("*", "x"), ("-", "x"), ("a", "\x00"), ("=", "x")]
"""A long run, and what must not stand behind it."""


def repeated(unit: str, chars: int) -> str:
    return (unit * (chars // len(unit) + 1))[:chars]


def opened(head: str, run: str, chars: int) -> str:
    return head + repeated(run, chars - len(head))


def closed(run: str, end: str, chars: int) -> str:
    return repeated(run, chars) + end


def unlike(unit: str, chars: int) -> str:
    """Each repetition another: what is remembered by its text is of no help."""
    return "".join(f"{unit}{number:x} " for number in range(chars // (len(unit) + 5)))


REDACTOR = Redactor(b"key")
OWN_RULES = OwnRules(
    parse_rules([{"name": "ours", "pattern": r"corp-[a-z0-9]{8,40}(?:-x)?", "example": "corp-abcdefgh1"}])
)
ADMISSION = Admission(b"s" * 32, REDACTOR, max_payload_bytes=4_096)
OWN_ID = block_id(b"secret")
OURS = f'<siftd-memory id="{OWN_ID}" '
WORDS = Relevance({"redis": 2.0, "password": 1.0, "error": 0.5})


class Loose(msgspec.Struct):
    a: Any = None


DECODER = msgspec.json.Decoder(Loose)


def utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def payload_of(text: str) -> dict[str, Any]:
    told = dict.fromkeys(
        ("command", "content", "description", "new_string", "old_string", "pattern", "plan", "prompt", "url"), text
    )
    answered = {"stdout": text, "stderr": text, "content": text, "file": {"content": text}, "result": text}
    answered |= {"structuredPatch": [{"oldStart": 1, "lines": text.split("\n")}], "originalFile": text}
    return {"tool_input": told | {"file_path": "/a/b.py"}, "tool_response": answered}


def item(tool: str, text: str, outcome: str = "ok") -> Item:
    if tool == "UserPromptSubmit":
        return item_of(event_id=1, tool=tool, payload={"prompt": text})
    if tool in ("Stop", "SubagentStop"):
        return item_of(event_id=1, tool=tool, payload={"last_assistant_message": text}, request=text)
    payload = payload_of(text)
    if outcome == "failed":
        payload = {"tool_input": payload["tool_input"], "error": text}
    return item_of(event_id=1, tool=tool, payload=payload, outcome=outcome, request=text, cwd="/a")


def story(scope: Any, text: str) -> Item:
    told = tuple(item(tool, text) for tool in ("UserPromptSubmit", "Edit", "Bash", "Stop"))
    return item_of(event_id=9, tool="Stop", payload={"last_assistant_message": text}, scope=scope, story=told)


def admit(text: str) -> None:
    told = {"tool_input": {"command": text}, "tool_response": {"stdout": text}}
    event = Event(
        client="claude-code", session_id="s", kind="tool", tool="Bash", payload=told, ts=1, identity=("tool", "t"),
        native_id="t",
    )  # fmt: skip
    ADMISSION.admit(event, raw_bytes=1)


def symbols(extension: str, text: str) -> None:
    payload = payload_of(text)
    payload["tool_input"]["file_path"] = f"/a/b.{extension}"
    symbols_of("Write", payload)


def envelope(text: str) -> None:
    told = {"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t"}
    decode_envelope(as_json(told | payload_of(text)), ts=1)


def transcript(text: str) -> None:
    lines = [
        {"type": "user", "message": {"content": text}},
        {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": text}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": text}]}},
        {"type": "attachment", "attachment": {"type": "queued_command", "commandMode": "prompt", "prompt": text}},
    ]
    when = {"sessionId": "s", "timestamp": "2026-01-01T00:00:00Z"}
    list(read_transcript([as_json(line | when) for line in lines], complete=True))


def keys(text: str) -> dict[str, Any]:
    """An object with as many keys as there are pieces of text."""
    return {f"{text[start : start + 16]}": {"a": 1} for start in range(0, len(text), 16)}


def chain_of_lists(text: str) -> Any:
    return [[piece] for piece in text.split(" ")]


def frames(text: str) -> None:
    frame = encode_frame(utf8(text) or b"{")
    buffer = FrameBuffer()
    for start in range(0, len(frame), 512):
        list(buffer.feed(frame[start : start + 512]))


def said(by: SaidBy, text: str) -> Turn:
    return Turn("s", "c", (Said(1, 1, "prompt" if by == "person" else "turn_end", by, text),))


def judged(text: str) -> None:
    """Compare what is cut to a statement's length with statements that share all of its words but one."""
    new = Candidate(
        text=text[:400],
        category="fact",
        confidence=0.5,
        importance=3,
        quote="",
        sources=(),
        said_by="agent",
        valid_from=1,
    )
    old = Known(
        id=1, text="x" + text[:398], category="", topic=None, said_by="agent", importance=3, confidence=None, cosine=0.9
    )
    judge(new, [old] * 8)


def distilled(text: str) -> None:
    """Distil sessions, facts and dropped notes that are made of the text, into bodies that are."""
    parts = [text[at : at + 400] for at in range(0, len(text), 400)]
    facts = tuple(Fact(at, each, "decision", "person", "kept", None, 3, 1, each) for at, each in enumerate(parts))
    committed = tuple(Commit(at, at, f"fix: {each}", (each,), (each,), (each,)) for at, each in enumerate(parts))
    answers = tuple(Answer(at, at, each, each[:80]) for at, each in enumerate(parts))
    one = Session(id=text, cited="s1", ended_ts=9, branch=text, asked=text, commits=committed, answers=answers)
    distil(
        Material(facts=facts, sessions=(one,)), {"state": text, "decisions": f"## Now\n{text}"}, [text], Written(), 0
    )


def snapshot_of(text: str) -> str:
    """Return the page of a folder whose manifests, README and sources say this."""
    names = ("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "package.json", "Cargo.toml", "go.mod", "Makefile")
    with tempfile.TemporaryDirectory() as folder:
        for name in (*names, "README.md", "CONTRIBUTING.md", "noxfile.py", "a.py", "a.js", "a.go", "a.rs", "a.c"):
            Path(folder, name).write_text(text, encoding="utf-8", errors="replace")
        return page(build(folder, Seen()))


def exported(text: str) -> None:
    """Read a text as each export, and as an array whose elements hold it."""
    for data in (utf8(text), as_json([{"html_url": text, "body": text, "labels": [text]}])):
        for source, form in SOURCE_FORMS:
            with suppress(SiftdError):
                list(read_source(io.BytesIO(data), source, form, "x", 1))


def source_items(text: str) -> None:
    line = Line(source="comment", ref="a", updated=1, text=text, title=text, labels=[text], by=text, url=text)
    items_of(line, uuid.UUID(int=1), REDACTOR.text, index_words, 0)


FUNCTIONS: dict[str, Callable[[str], Any]] = {
    # Sources of a team
    "team.sources.job_log": lambda text: (shortened(window(text)), tools(text)),
    "team.sources.pieces": source_items,
    "team.sources.plain": plain_source,
    "team.sources.reading": exported,
    # Clients
    "claude_code.decode_envelope": envelope,
    "claude_code.transcript": transcript,
    "claude_code.facts.typed_prompt": typed_prompt,
    "claude_code.facts.input_identity": lambda text: input_identity("Bash", {"command": text, "keys": keys(text)}),
    "claude_code.facts.settle_input": lambda text: settle_input("Read", {"file_path": text, "offset": text}, "/a"),
    "own.without_blocks": lambda text: without_blocks([text], OWN_ID),
    "own.without_blocks of ours": lambda text: without_blocks(text.replace("<siftd-memory", OURS), OWN_ID),
    "own.ids_alone": lambda text: ids_alone({"stdout": text}),
    "own.is_own_call": lambda text: is_own_call("run", "Bash", {"command": "mem " + text}),
    "own.is_own_call of a tool": lambda text: is_own_call("other", "mcp__plugin_" + text, {}),
    "media.without_media": lambda text: without_media([text, {"data": text, "keys": keys(text)}]),
    "tolerant_json": lambda text: decode_as(utf8(text), DECODER),
    "tolerant_json of a broken string": lambda text: decode_as(b'{"a":"' + utf8(text), DECODER),
    "tolerant_json of digits": lambda text: decode_as(b'{"a":' + b"1" * len(text) + b"\xff}", DECODER),
    "tolerant_json of nesting": lambda text: decode_as(b'{"a":' + b"[" * len(text), DECODER),
    # Redaction and the door
    "Redactor.text": REDACTOR.text,
    "Redactor.value of a prompt": lambda text: REDACTOR.value({"prompt": text}),
    "Redactor.value of keys": lambda text: REDACTOR.value(keys(text)),
    "Redactor.value of keys that become equal": lambda text: REDACTOR.value(
        {f"<private>{number}</private>": "" for number in range(len(text) // 16)}
    ),
    "Redactor.value of lines": lambda text: REDACTOR.value({"a": text.split("\n"), "b": text.split(" ")}),
    "OwnRules": lambda text: OWN_RULES.find(text + "corp-abcdefgh1"),
    "private.cut_private": cut_private,
    "private.cut_private of jsx": partial(cut_private, jsx=True),
    "Admission.admit": admit,
    "shorten.shorten": lambda text: shorten({"a": text, **keys(text)}, encode_canonical, 4_096),
    "shorten.cut_raw": lambda text: cut_raw({"a": text, **keys(text)}, str),
    "env_files.read_assignments": lambda text: list(read_assignments(text)),
    "env_files.secret_values": secret_values,
    # What is stored, sent, exported
    "frames.FrameBuffer": frames,
    "exchange.decode": lambda text: decode_exchange(utf8(text)),
    "log.iter_segment": lambda text: list(iter_segment(utf8(text))),
    "payload.find_object": find_object,
    "indexing.facets_of": lambda text: facets_of(captured("Bash", encode_canonical(payload_of(text)).decode())),
    "tombstones.paths_of": lambda text: paths_of(encode_canonical({"tool_input": {"file_path": text}})),
    "commands.command_key": command_key,
    "learnt_commands.runs_of": lambda text: runs_of(text, Ended("ok", "", text)),
    "learnt_errors.faults_of": faults_of,
    "ledger.first_named": lambda text: first_named(text, [("/a/password", 1), ("redis.py", 2), ("aaaa", 3)]),
    "remembering": lambda text: (check_says_something(text + "a"), cleaned(text)),
    # Symbols
    **{f"symbols of .{each}": partial(symbols, each) for each in ("py", "ts", "go", "rs", "java", "rb", "cs", "cpp")},
    "symbols of a patch": lambda text: symbols_of("apply_patch", {"tool_input": {"patch": text, "input": text}}),
    # Summaries
    **{
        f"render {tool}": lambda text, tool=tool: render(item(tool, text))
        for tool in (*ONE_OF_EACH, "UserPromptSubmit", "Stop", "Unheard")
    },
    **{
        f"render failed {tool}": lambda text, tool=tool: render(item(tool, text, "failed")) for tool in ("Bash", "Edit")
    },
    **{f"render {scope}": lambda text, scope=scope: render(story(scope, text)) for scope in ("turn", "session")},
    "prompt_for": lambda text: prompt_for(item("Bash", text)),
    "prompt_for_all": lambda text: prompt_for_all([item("Bash", text), item("Stop", text)]),
    "trivial_because": lambda text: trivial_because(item("Bash", text)),
    "answer.read_answer": lambda text: read_answer(text, source_is_latin=True),
    "answer.read_answers": read_answers,
    "answer.checked_text": lambda text: checked_text(text, source_is_latin=True),
    "truth.Source": Source,
    "truth.unsupported_claims": lambda text: unsupported_claims(text[:MAX_SUMMARY_CHARS], Source(text)),
    # Facts
    "facts.extract of a person": lambda text: extract(said("person", text)),
    "facts.extract of an agent": lambda text: extract(said("agent", "We use this because we decided to. " + text)),
    "facts.judge": judged,
    # Search and vectors
    "words.index_words": index_words,
    "words.split_words": split_words,
    "blend384.embed": lambda text: blend384.embed([text]),
    "blend384.embed_question": lambda text: blend384.embed_question(text, {}),
    "hash384.embed": lambda text: hash384.embed([text]),
    "hash384.embed_question": lambda text: hash384.embed_question(text, {}),
    "sameness.says_the_same": lambda text: says_the_same(text, text + " a"),
    "standing.sentences": lambda text: list(standing.sentences(text[: standing.PROMPT_CHARS_MAX])),
    "query.Question": lambda text: Question.of(text).expressions,
    "relevance.share": WORDS.share,
    "imports of Python": lambda text: imports_of("a.py", text.splitlines()),
    "imports of JavaScript": lambda text: imports_of("a.js", text.splitlines()),
    "imports of Rust": lambda text: imports_of("a.rs", text.splitlines()),
    "knowledge.a tree of hostile files": snapshot_of,
    "harmless.harmless": harmless,
    "harmless.unfenced": unfenced,
    "harmless.visible": visible,
    "own_words.command_words": command_words,
    "passages.passage": lambda text: passage({"last_assistant_message": text}, "", Wanted({"a": 1.0, "text": 1.0})),
    "passages.passage of output": lambda text: passage({"tool_response": text}, "", Wanted({"a": 1.0, "text": 1.0})),
    "wording.is_own_wording": lambda text: is_own_wording(text, [text[::-1]]),
    "shown.as_text": lambda text: as_text({"tool_input": {"old_string": text, "new_string": text + "x"}}),
    "own_words.name_of": name_of,
    "context.expected_of": lambda text: expected_of({"tool_input": {"command": text}}),
    "context.secrets_of_output": lambda text: secrets_of_output(text, expected_of({"command": "printenv PASSWORD"})),
    "touched.touched_folders": lambda text: touched_folders({"tool_input": {"file_path": text, "command": text}}, "/a"),
    # Files of notes
    "graph.page": lambda text: read_page(Found(), text),
    "graph.sentence": lambda text: read_page(Found(), f"The auth service depends on {text}"),
    "graph.manifests": lambda text: [read_manifest(Found(), path, text, GRAPH_OWNER) for path in GRAPH_MANIFESTS],
    "graph.imports": lambda text: [read_imports(Found(), f"a/b.{each}", text) for each in GRAPH_SOURCES],
    "graph.git": lambda text: read_printed(Found(), text, project=GRAPH_OWNER),
    "graph.model": lambda text: read_relations(Found(), text, text),
    "notes.entries": lambda text: without(text, NotesWanted(frozenset({"m1"}), frozenset({"a"}), "zebra").concerns),
    "notes.indexing": lambda text: clean_entries(text, str),
    "notes.statement_of": statement_of,
    "notes.asking": lambda text: (asking.goal_of([text]), asking.report_in(text), list(asking.deferred_in(text))),
    "notes.commits": lambda text: (commits.prose_in(text), commits.message_of(f"git commit -m '{text}")),
    "notes.commits.mends": lambda text: (commits.mends(text), commits.mends(f"fix: {text}"), commits.matters(text)),
    "notes.plain": plain,
    "notes.inbox": lambda text: (inbox.as_text(text), inbox.note_of(text), inbox.as_entry(text, 0)),
    "notes.distil": distilled,
    # The terminal
    "output.clean": output.clean,
    "output.one_line": output.one_line,
}
"""Whatever takes captured text apart."""


@pytest.fixture(autouse=True)
def uncollected() -> Iterator[None]:
    """Hold back the collection of garbage, which goes through all that the tests before have left in this process."""
    gc.disable()
    yield
    gc.enable()


def seconds(function: Callable[[str], Any], text: str, most: int = 10) -> float:
    """Return the processor time of a run, of several (`most`) where one is too short to be measured."""
    runs, started, took = 0, time.process_time(), 0.0
    while took < GRAIN_SECONDS / 4 and runs < most:
        with suppress(SiftdError, UnicodeEncodeError, RecursionError, msgspec.MsgspecError):  # a refusal is an answer
            function(text)
        runs += 1
        took = time.process_time() - started
    return took / runs


def growth(function: Callable[[str], Any], make: Callable[[int], str], largest: int = LARGEST) -> float:
    """Return how many times as long four times the text takes; what seems too much is measured again, and again.

    Each look takes the shorter and the longer text one after the other. The best of each is compared, and the two of
    one look: a neighbour on the machine who slows all but one run of the shorter text proves nothing. What is quadratic
    takes sixteen times as long in every look.
    """
    size = SMALL
    while size < largest and seconds(function, make(4 * size), 1) < GRAIN_SECONDS:
        size *= 4
    if size >= largest:
        return 1.0
    shorter = longer = float("inf")
    factor = FACTOR
    for _ in range(16):
        short, long = seconds(function, make(size)), seconds(function, make(4 * size))
        shorter, longer = min(shorter, short), min(longer, long)
        if (factor := min(longer / max(shorter, 1e-6), long / max(short, 1e-6))) < FACTOR:
            return factor
    # Linear work may have a step in it, where a text is no longer read in one piece: what is quadratic takes most for
    # each character in the longest text, by far.
    quarter = min(seconds(function, make(size // 4)) for _ in range(4))
    return longer / max(shorter, 4 * quarter)


OF_LENGTH_ALONE = {"Redactor.value of keys that become equal"}
"""They make their input of the text's length: one text says as much as a hundred."""


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_four_times_the_text_takes_no_more_than_six_times_the_time(name: str) -> None:
    function = FUNCTIONS[name]
    seconds(function, "warm")  # what is imported and compiled once
    hostile = {f"{head!r}, {run!r} …": partial(opened, head, run) for head, run in RUNS}
    hostile |= {f"{run!r} … {end!r}": partial(closed, run, end) for run, end in ENDS}
    hostile |= {repr(unit): partial(repeated, unit) for unit in UNITS}
    hostile |= {f"{unit!r}, each unlike": partial(unlike, unit) for unit in UNITS[::8]}
    if name in OF_LENGTH_ALONE:
        hostile = dict([next(iter(hostile.items()))])
    factors = {how: growth(function, make) for how, make in hostile.items()}
    assert {how: round(factor, 1) for how, factor in factors.items() if factor >= FACTOR} == {}


def test_statements_that_never_end_cost_no_more_than_other_lines_that_tell() -> None:
    """Each INSERT was read to its bound from each of its lines: linear, and fifteen times as slow."""
    told = seconds(REDACTOR.text, repeated("x token1 a1b2\n", LARGEST))
    for unit in ("insert into t (password) values ((\n", "'insert into t (password) values ('\n"):
        assert seconds(REDACTOR.text, repeated(unit, LARGEST)) < FACTOR * told
