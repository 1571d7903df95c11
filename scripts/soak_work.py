"""What `scripts/soak` sends: captures as an agent's day brings them, and questions as people and agents ask them."""

from __future__ import annotations

import itertools
import json
import random
import time
from collections.abc import Iterator
from typing import Any

from bench_stand import framed

SYLLABLES = "to ken se ssion ca che lo gin par ser in dex so cket re try sche ma bran ch de ploy ti me qu eue".split()
WORDS = ["".join(each) for each in itertools.product(SYLLABLES, repeat=2)] + [
    "".join(each) for each in itertools.product(SYLLABLES, repeat=3)
][::11]
WEIGHTS = list(itertools.accumulate(1 / (rank + 8) for rank in range(len(WORDS))))
"""Words as people use them: a few often, most of some two thousand rarely."""


def capture_frames(chance: random.Random) -> Iterator[bytes]:
    """Yield hook frames as an agent's day brings them: calls, failures, prompts, turn ends; some large."""
    for number in itertools.count():
        session = f"soak-{number // 2000}"
        file = f"/src/demo/{chance.choice(WORDS)}_{chance.randrange(200)}.py"
        common = {"session_id": session, "cwd": "/src/demo", "prompt_id": f"p{number // 40}"}
        match number % 40:
            case 0:
                told = {
                    "hook_event_name": "UserPromptSubmit",
                    "prompt": f"why does {sentence(chance)} fail? ({number})",
                }
            case 39:
                told = {"hook_event_name": "Stop", "last_assistant_message": f"Mended {sentence(chance)} in {file}."}
            case kind:
                told = tool_call(chance, number, kind, file)
        header = {
            "client": "claude-code",
            "frameUid": f"{number:032x}",
            "root": "/src/demo",
            "ts": time.time_ns() // 1_000_000,
        }
        head = json.dumps(header).encode()
        yield framed(b"\x01" + len(head).to_bytes(2, "big") + head + json.dumps(common | told).encode())


def tool_call(chance: random.Random, number: int, kind: int, file: str) -> dict[str, Any]:
    called: dict[str, Any]
    if kind % 3 == 0:
        called = {
            "tool_name": "Read",
            "tool_input": {"file_path": file},
            "tool_response": {"content": text(chance, 80)},
        }
    elif kind % 3 == 1:
        edit = {
            "file_path": file,
            "old_string": text(chance, 3),
            "new_string": f"def {chance.choice(WORDS)}_{number}(): ...",
        }
        called = {"tool_name": "Edit", "tool_input": edit, "tool_response": {"filePath": file}}
    else:
        lines = 2000 if number % 1000 == 5 else 20
        output = {"stdout": text(chance, lines), "stderr": "", "interrupted": False}
        called = {"tool_name": "Bash", "tool_input": {"command": f"pytest -q {file}"}, "tool_response": output}
    called |= {"hook_event_name": "PostToolUse", "tool_use_id": f"toolu_{number}"}
    if number % 17 == 0:
        called |= {"hook_event_name": "PostToolUseFailure", "error": f"exit 1: {sentence(chance)}"}
    return called


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, cum_weights=WEIGHTS, k=5))


def text(chance: random.Random, lines: int) -> str:
    return "\n".join(f"{sentence(chance)} {chance.randrange(10_000)}" for _ in range(lines))


def question(chance: random.Random, number: int) -> dict[str, Any]:
    if number % 600 == 599:
        return {"kind": "forget", "ids": [f"e{chance.randrange(1, 1000)}"], "dryRun": False}
    if number % 60 == 30:
        return {"kind": "remember", "text": f"{sentence(chance)} was decided ({number})"}
    match number % 10:
        case 9:
            return {"kind": "recall", "prompt": f"why does {sentence(chance)} fail?"}
        case 8:
            return {"kind": "timeline", "before": 20}
        case 7:
            return {"kind": "show", "id": f"e{chance.randrange(1, 1000)}"}
        case 6:
            return {"kind": "info"}
    filters = {"tool": "Bash"} if number % 4 == 0 else {}
    return {"kind": "search", "query": sentence(chance), "k": 10, "filters": filters}
