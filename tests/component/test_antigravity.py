"""Antigravity, by the shapes that others have published: a conversation in its mirror, or in its database."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from both_ways import WAYS, facts_by, read_files
from opened_store import OpenedStore

from siftd.clients.antigravity.attribution import most_spoken_of
from siftd.clients.registry import CLIENTS
from siftd.errors import EnvelopeRejected
from siftd.model import Event

CLIENT = CLIENTS["antigravity"]
ID = "7f71fcb0-0000-4000-8000-000000000001"
AT = "2026-10-08T09:00:0{}Z"


def step(index: int, kind: str, source: str = "MODEL", **more: Any) -> dict[str, Any]:
    told = {"step_index": index, "source": source, "type": kind, "status": "DONE", "created_at": AT.format(index)}
    return told | more


CALLS = [
    {"name": "run_command", "args": {"CommandLine": "make test"}},
    {"name": "list_dir", "args": {"DirectoryPath": "."}},
]
ASKED = "<USER_REQUEST>\nMend it\n</USER_REQUEST><ADDITIONAL_METADATA>x</ADDITIONAL_METADATA>"
STEPS = [
    step(1, "USER_INPUT", "USER_EXPLICIT", content=ASKED),
    step(2, "PLANNER_RESPONSE", content="I look first.", tool_calls=CALLS),
    step(3, "RUN_COMMAND", status="ERROR", content="1 failed", error="exit status 2"),
    step(4, "LIST_DIRECTORY", content="README.md"),
    step(5, "EPHEMERAL_MESSAGE", "SYSTEM", content="<siftd-memory>INJECTED</siftd-memory>"),
    step(6, "PLANNER_RESPONSE", content="Mended."),
]  # fmt: skip


class Place:
    def __init__(self, root: Path) -> None:
        self.root, self.gemini = root / "work", root / ".gemini"
        (self.root / ".git").mkdir(parents=True)
        self.brain = self.gemini / "antigravity-cli" / "brain" / ID
        self.mirror = self.brain / ".system_generated" / "logs" / "transcript_full.jsonl"

    def write(self, steps: list[dict[str, Any]]) -> None:
        self.mirror.parent.mkdir(parents=True, exist_ok=True)
        self.mirror.write_text("".join(json.dumps(each) + "\n" for each in steps))
        os.utime(self.mirror, (1, 1))  # it grows no more
        noted = self.gemini / "antigravity-cli" / "cache" / "last_conversations.json"
        noted.parent.mkdir(exist_ok=True)
        noted.write_text(json.dumps({str(self.root): ID}))
        output = self.brain / ".system_generated" / "steps" / "3" / "output.txt"
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text("1 failed")

    def hook(self, **told: Any) -> bytes:
        given = {"conversationId": ID, "workspacePaths": [str(self.root)], "transcriptPath": str(self.mirror)}
        return json.dumps(given | told).encode()

    def hooks(self) -> list[bytes]:
        return [
            self.hook(invocationNum=0, initialNumSteps=1),
            self.hook(toolCall=CALLS[0], stepIdx=3, error="exit status 2"),
            self.hook(toolCall=CALLS[1], stepIdx=4),
            self.hook(invocationNum=1, initialNumSteps=1),
            self.hook(executionNum=0, fullyIdle=True, error="", terminationReason="NO_TOOL_CALL"),
        ]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.write(STEPS)
    return made


async def test_each_fact_is_kept_once_whoever_tells_it_first(place: Place, tmp_path: Path) -> None:
    told = {}
    for number, way in enumerate(WAYS):
        facts = await facts_by(way, tmp_path / f"store{number}", CLIENT, place.hooks(), place.gemini, str(place.root))
        told[way] = [row[1:4] for row in facts]
        assert not [row for row in facts if "INJECTED" in row[6]], way
    whole = [
        ("assistant_text", "AssistantText", None),
        ("prompt", "PreInvocation", None),
        ("tool", "list_dir", "ok"),
        ("tool", "run_command", "failed"),
        ("turn_end", "Stop", None),
    ]
    assert told.pop("live") == whole[1:]
    assert all(facts == whole for facts in told.values())


def test_what_a_hook_tells_has_the_text_that_lies_beside(place: Place) -> None:
    prompt, failed, _, _, end = place.hooks()
    assert payload(prompt) == {"prompt": "Mend it"}
    assert payload(failed) == {"tool_input": {"command": "make test"}, "error": "Exit code 2\n1 failed"}
    assert payload(end) == {"last_assistant_message": "Mended."}


def payload(raw: bytes) -> dict[str, Any]:
    event = CLIENT.decode(raw, ts=1)
    assert isinstance(event, Event)
    return event.payload


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"invocationNum": 3}, "not_a_prompt"),
        ({"invocationNum": 0, "workspacePaths": []}, "no_workspace"),
        ({"invocationNum": 0, "transcriptPath": "/etc/passwd"}, "no_text"),
        ({"invocationNum": 0, "conversationId": "another"}, "no_text"),
        ({}, "unhandled_event"),
    ],
)
def test_what_tells_nothing_is_refused(place: Place, told: dict[str, Any], reason: str) -> None:
    with pytest.raises(EnvelopeRejected) as refused:
        CLIENT.decode(place.hook(**told), ts=1)
    assert refused.value.reason == reason


def database(path: Path, rows: list[tuple[int, int, bytes]]) -> None:
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE steps (idx INTEGER, step_type INTEGER, step_payload BLOB)")
        made.executemany("INSERT INTO steps VALUES (?, ?, ?)", rows)
    made.close()
    os.utime(path, (1, 1))


async def test_a_conversation_without_a_mirror_is_read_from_its_database(tmp_path: Path) -> None:
    place = Place(tmp_path)
    root = str(place.root).encode()
    call = b'\x08\x0f\x12run_command\x00\x1a{"CommandLine": "make test", "Cwd": "%b"}\x02' % root
    rows = [
        (1, 14, b"\x0a\x07\x12\x1fMend the parser in " + root + b"/src\x00"),
        (2, 15, call),
        (3, 17, b"\x01exit status 2\x00"),
        (4, 15, call + b"12 passed\x00"),
        (5, 33, b"\x0a\x02\x12Mended: see " + root + b"/src/parser.py\x00"),
        (6, 90, b"\x00bookkeeping"),
    ]
    database(place.gemini / "antigravity" / "conversations" / f"{ID}.db", rows)
    async with OpenedStore(tmp_path / "store") as store:
        first = await read_files(store, CLIENT, place.gemini, str(place.root))
        again = await read_files(store, CLIENT, place.gemini, str(place.root))
        told = store.rows("SELECT session_id, kind, outcome FROM events ORDER BY id")
    assert (first.errors, first.captured, again.captured) == (0, 4, 0)
    assert told == [(ID, "prompt", None), (ID, "tool", "failed"), (ID, "tool", "ok"), (ID, "turn_end", None)]


def test_a_folder_is_spoken_of_three_times_and_never_for_another_s_name(tmp_path: Path) -> None:
    for name in ("app", "app2"):
        (tmp_path / name / ".git").mkdir(parents=True)
    one, other = f"{tmp_path}/app", f"{tmp_path}/app2"
    assert most_spoken_of([f"see {other}/a.py and {other}/b.py, {other} too, and {one}/a.py"]) == other
    assert most_spoken_of([f"{one}/a.py {one}/b.py"]) is None
    assert most_spoken_of([f"{one}/a.py {one}/b.py {one}/c.py {other}/a {other}/b {other}/c"]) is None
