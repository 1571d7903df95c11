"""Labelled cases of secrets as people and programs print them, presented as hooks bring them, and what is left of them.

A row has `text` (or, for `via` json, `value`: `{tool_input, tool_response}`), `secret` (one or several), `class`, `via`
and, where the command is what tells, `command`. A secret is caught when no string of the redacted payload, object keys
included, holds the whole of it: what is compared are strings, not their escaped forms in JSON.

Of a file that is named unseen, shares are all that is ever told. A rule that was fitted to what it is measured on proves
nothing, so no flag shows a row of it.
"""

from __future__ import annotations

import json
import lzma
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from siftd.redact import Redactor

OWN = Path(__file__).parents[1] / "tests" / "data" / "redaction"
SECRETS = ("open.jsonl", "unseen.jsonl", "forms-open.jsonl", "forms-unseen.jsonl")
BENIGN = ("benign-open.jsonl", "benign-unseen.jsonl")

Row = dict[str, Any]


def rows_of(path: Path) -> list[Row]:
    if path.suffix == ".xz":
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def payload_of(row: Row) -> Row:
    """Return the row as a hook brings it: the text in the field of the tool or the prompt that it came from."""
    text = row.get("text", "")
    match row.get("via", "stdout"):
        case "prompt":
            return {"prompt": text}
        case "command":
            response = {"stdout": "", "stderr": "", "interrupted": False}
            return {"tool_name": "Bash", "tool_input": {"command": text}, "tool_response": response}
        case "file":
            path = "/home/dev/shop/" + row.get("path", "notes.txt")
            file = {"filePath": path, "content": text, "numLines": text.count("\n"), "startLine": 1}
            return {
                "tool_name": "Read",
                "tool_input": {"file_path": path},
                "tool_response": {"type": "text", "file": file},
            }
        case "json":
            value = row["value"] if isinstance(row.get("value"), dict) else {"tool_response": row.get("value")}
            return {"tool_name": row.get("tool", "mcp__desk__call"), **value}
        case _:
            response = {"stdout": text, "stderr": "", "interrupted": False}
            command = row.get("command") or "some-command"
            return {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": response}


def strings_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from strings_of(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings_of(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def is_hidden(redactor: Redactor, row: Row) -> bool:
    left = list(strings_of(redactor.value(payload_of(row))))
    secrets = [row["secret"]] if isinstance(row["secret"], str) else row["secret"]
    return not any(secret in text for secret in secrets for text in left)


def is_untouched(redactor: Redactor, row: Row) -> bool:
    payload = payload_of(row)
    return bool(redactor.value(payload) == payload)


def report(redactor: Redactor, path: Path, show: bool) -> None:
    """Print the share that is well, in all and by class; of a file that is open and where `show` is set, each row that is not."""
    rows = rows_of(path)
    benign = "benign" in path.name
    unseen = "unseen" in path.name
    classes: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        good = (is_untouched if benign else is_hidden)(redactor, row)
        classes[row["class"]].append(good)
        if show and not good and not unseen:
            print("touched" if benign else "missed", row["class"], json.dumps(row, ensure_ascii=False)[:400])
            if benign:
                print("     as", json.dumps(redactor.value(payload_of(row)), ensure_ascii=False)[:400])
    every = [good for score in classes.values() for good in score]
    title = path.name.removesuffix(".xz").removesuffix(".jsonl")
    word = "untouched" if benign else "hidden"
    print(f"{title:<22}{sum(every) / len(every):.3f} {word}, of {len(every)}")
    shares = [f"{name} {sum(score) / len(score):.2f} of {len(score)}" for name, score in sorted(classes.items())]
    for begin in range(0, len(shares), 4):
        print("    " + "; ".join(shares[begin : begin + 4]))


def report_all(redactor: Redactor, path: Path | None, show: bool) -> None:
    """Report the repository's own sets and, from the folder of data, those that others wrote."""
    others = ("secrets/realistic.jsonl.xz", "secrets/realistic-benign.jsonl.xz")
    chosen = [OWN / name for name in (*SECRETS, *BENIGN)] + [path / name for name in others if path]
    for file in chosen:
        if file.exists():
            report(redactor, file, show)
