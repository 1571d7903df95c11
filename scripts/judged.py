"""What was judged by reading, in neutral rows: drawn by lot, put in halves, and void once the text is another one."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any

from bench_stand import REPOSITORY

FOLDER = REPOSITORY / "tests" / "data" / "judged"
_CHARS = 16
Row = dict[str, Any]
_LABEL = re.compile(r"\[REDACTED:[\w:-]{1,80}\]")


def lot(*identity: object) -> str:
    """Return what decides whether a row is drawn, and in which half it is."""
    return hashlib.sha256("\0".join(map(str, identity)).encode()).hexdigest()[:_CHARS]


def half_of(key: str) -> str:
    return "open" if int(key[-1], 16) % 2 == 0 else "unseen"


def hash_of(text: str) -> str:
    """Return a text's hash; labels of what was redacted are drawn anew in each store."""
    return hashlib.sha256(without_labels(text).encode()).hexdigest()[:_CHARS]


def without_labels(text: str) -> str:
    """Return a text with the same label for all that was redacted."""
    return _LABEL.sub("[REDACTED]", text)


def read(name: str) -> dict[str, dict[str, Any]]:
    """Return the judged rows of a file by their keys."""
    path = FOLDER / name
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {row["key"]: row for row in map(json.loads, lines)}


def write(name: str, rows: Iterable[dict[str, Any]]) -> None:
    """Write the rows of a file, in the order of their keys."""
    lines = (json.dumps(row, ensure_ascii=False, sort_keys=True) for row in sorted(rows, key=lambda row: row["key"]))
    (FOLDER / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
