"""The data sets that `eval-retrieval` knows, and how each comes into a store: by the product's own requests.

A set is a folder: `corpus.jsonl` (or `.xz`), `queries.jsonl` with `_id`, `scope`, `text` and a category, `qrels.tsv`
with the right answers. Nothing of a set is in this repository.
"""

from __future__ import annotations

import json
import lzma
import tarfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_ARCHIVES = {"agent-sessions": "transcripts.tar.xz", "agent-sessions-2": "transcripts-2.tar.xz"}
"""By set: where the transcripts of its sessions are, in a folder beside the sets'."""
Ask = Callable[[dict[str, Any]], dict[str, Any]]
DAY_MS = 86_400_000


@dataclass(frozen=True)
class Query:
    """One question, where it is asked, and what would be right."""

    id: str
    scope: str
    text: str
    categories: tuple[str, ...]
    gold: frozenset[str]


@dataclass
class DataSet:
    """A set as it is asked: what one answer is, what a scope's documents are, the questions."""

    name: str
    definition: str
    unit: str
    """"session" or "document": what a hit is scored as."""
    documents: dict[str, list[dict[str, Any]]]
    queries: list[Query]
    transcripts: Path | None = None
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    """By (scope, hit id): the document it stands for."""

    def fill(self, scope: str, ask: Ask) -> None:
        """Bring a scope's documents into the workspace behind `ask`, summarised and embedded."""
        match self.name:
            case "agent-sessions" | "agent-sessions-2":
                assert self.transcripts is not None
                paths = [str(self.transcripts / each["transcript"]) for each in self.documents[scope]]
                ask({"kind": "backfill", "paths": paths, "anyWorkspace": True, "own": True})
            case "beam-128k":
                for number, each in enumerate(self.documents[scope]):
                    answer = ask(_message(each, number))
                    self.names[scope, f"e{answer['eventId']}"] = each["_id"]
            case _:
                for each in self.documents[scope]:
                    answer = ask({"kind": "remember", "text": each["text"], "type": "fact"})
                    self.names[scope, answer["id"]] = each["_id"]
        ask({"kind": "drain"})

    def answers_of(self, scope: str, hit: dict[str, Any]) -> list[str | None]:
        """Return what a hit stands for; a turn that was found by its prompt for both messages, the prompt first."""
        if self.unit == "session":
            return [str(hit["sessionId"])]
        asked = [hit["asked"]["id"]] if hit["asked"] is not None else []
        event = f"e{hit['eventId']}" if hit["eventId"] is not None else hit["id"]
        return [self.names.get((scope, each)) for each in (*asked, event)]


def load(folder: Path, unpacked: Path) -> DataSet:
    """Read a set; transcripts that it names are unpacked below `unpacked`."""
    name = folder.name
    documents: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in _lines(folder / "corpus.jsonl"):
        documents[each["scope"]].append(each)
    gold: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, score = line.split("\t")
        if int(score) > 0:
            gold[query].add(document)
    queries = [
        Query(each["_id"], each["scope"], each["text"], categories, frozenset(gold[each["_id"]]))
        for each in _lines(folder / "queries.jsonl")
        if gold[each["_id"]] and (categories := _categories(name, each))
    ]
    transcripts = None
    if name in _ARCHIVES:
        transcripts = _unpack(folder.parent.parent / "transcripts" / _ARCHIVES[name], unpacked / name)
    unit, definition = _DEFINITIONS.get(name, _DEFINITIONS["devbench"])
    return DataSet(name, definition, unit, dict(documents), queries, transcripts)


_SESSIONS = (
    "find the session in which something was done, among those of its repository: real sessions back-filled from"
    " their transcripts, each repository a workspace; development split. R@k is the fraction of the right sessions"
    " among the first k; many questions have several, so that R@1 cannot reach 1"
)
_DEFINITIONS = {
    "agent-sessions": ("session", _SESSIONS),
    "agent-sessions-2": ("session", _SESSIONS),
    "beam-128k": (
        "document",
        "find the messages of long chats that answer a question, among those of the chat: each message captured as a"
        " prompt or as a turn's end, each chat a workspace; five categories. R@k is the fraction of the right messages",
    ),
    "devbench": (
        "document",
        "find one-sentence memories, each remembered by `remember`; a smoke test. R@k is the fraction of the right ones",
    ),
}
_BEAM = (
    "information_extraction", "knowledge_update", "temporal_reasoning", "contradiction_resolution",
    "multi_session_reasoning",
)  # fmt: skip


def _categories(name: str, query: dict[str, Any]) -> tuple[str, ...]:
    if name in _ARCHIVES:
        if query["kind"] != "commit_subject":
            return ("all", "intents, learnings, frictions, open items")
        return ("all", "commit subjects", f"commit subjects, {'' if query['verbatim_in_gold'] else 'not '}verbatim")
    if name == "beam-128k":
        return ("all five", query["category"]) if query["category"] in _BEAM else ()
    return ("all", query["category"])


def _message(document: dict[str, Any], number: int) -> dict[str, Any]:
    is_user = document["role"] == "user"
    payload = {"prompt": document["text"]} if is_user else {"last_assistant_message": document["text"]}
    tool = "UserPromptSubmit" if is_user else "Stop"
    ts = 1_700_000_000_000 + number * 60_000
    return {"kind": "capture", "sessionId": document["session"], "tool": tool, "payload": payload, "ts": ts}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    packed = path.with_suffix(".jsonl.xz")
    text = path.read_text(encoding="utf-8") if path.exists() else lzma.decompress(packed.read_bytes()).decode()
    for line in text.splitlines():
        if line.strip():
            yield json.loads(line)


def _unpack(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / "transcripts"
