"""Summaries that are judged by reading: which are drawn, what is read beside each, and what the verdicts come to.

A row is known by the event's session, time, kind and tool, which no version changes. See tests/data/judged/README.md.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import judged

from siftd.search.goals import TURNS_MIN, in_short
from siftd.store.access import Database

FILE = "summaries.jsonl"
DRAWN = {"open": {"event": 100, "turn": 30, "long": 12, "session": 8}, "unseen": {"event": 150, "turn": 30, "long": 12, "session": 8}}  # fmt: skip
"""By half and kind; `long` are sessions that are told by their goals."""
GOOD = {"event": ("informative", "routine"), "turn": ("good",), "long": ("good",), "session": ("good",)}
_ROWS = """
SELECT s.text, s.scope, e.id, e.session_id, e.ts, e.kind, e.tool
FROM summaries s JOIN events e ON e.id = s.event_id
WHERE NOT EXISTS (SELECT 1 FROM summary_supersedes o WHERE o.older_id = s.id) ORDER BY s.id
"""
_SHOWN_CHARS = 450
_TURNS_SHOWN = 9
_DEEDS_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Sample:
    """One summary that was drawn."""

    key: str
    kind: str
    event_id: int
    session_id: str
    text: str

    @property
    def half(self) -> str:
        return judged.half_of(self.key)


def draw(connection: Database) -> list[Sample]:
    """Return the summaries that the lot gives each half, by kind."""
    turns = Counter(
        row[0] for row in connection.execute("SELECT session_id FROM events WHERE kind = 'turn_end'")
    )  # each has a story
    every: list[Sample] = []
    seen: Counter[tuple[Any, ...]] = Counter()
    for text, scope, event_id, session_id, ts, kind, tool in connection.execute(_ROWS).fetchall():
        alike = (scope, session_id) if scope == "session" else (scope, session_id, ts, kind, tool)
        seen[alike] += 1
        what = "long" if scope == "session" and turns[session_id] >= TURNS_MIN else scope
        every.append(Sample(judged.lot(*alike, seen[alike]), what, event_id, session_id, text))
    drawn: list[Sample] = []
    for half, kinds in DRAWN.items():
        for what, count in kinds.items():
            of_kind = sorted(
                (each for each in every if (each.half, each.kind) == (half, what)), key=lambda each: each.key
            )
            drawn += [_told_by_goals(connection, each) for each in of_kind[:count]]
    return drawn


def _told_by_goals(connection: Database, sample: Sample) -> Sample:
    if sample.kind != "long":
        return sample
    short = in_short(connection, sample.session_id)
    lines = [f"{each['asked']} → {each['outcome']}" for each in short["goals"]]
    text = "\n".join([*lines, f"open: {short['open']}"] if short["open"] else lines)
    return Sample(sample.key, sample.kind, sample.event_id, sample.session_id, text)


def tally(samples: list[Sample], rows: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each kind and half: what the verdicts say of the texts as they are now."""
    for half, kinds in DRAWN.items():
        false = void = 0
        for what in kinds:
            mine = [each for each in samples if (each.half, each.kind) == (half, what)]
            found = [(each, rows[each.key]) for each in mine if each.key in rows]
            valid = [row for each, row in found if row["text"] == judged.hash_of(each.text)]
            void += len(found) - len(valid)
            false += sum(not row["true"] for row in valid)
            verdicts = Counter(row["verdict"] for row in valid)
            good = sum(verdicts[each] for each in GOOD[what]) / max(1, len(valid))
            told = ", ".join(f"{each} {count}" for each, count in verdicts.most_common())
            yield f"{half:<7} {what:<8} {len(valid):>4} judged of {len(mine)}; {good:.2f} ({told})"
        yield f"{half:<7} false statements: {false}; verdicts on another text, which do not count: {void}"


def reading(connection: Database, sample: Sample) -> str:
    """Return a sample with what it tells of, to be read."""
    head = f"### {sample.key} {sample.kind} e{sample.event_id}\nTOLD: {sample.text}\n"
    if sample.kind == "event":
        row = connection.execute(
            "SELECT kind, tool, outcome, payload_json FROM events WHERE id = ?", (sample.event_id,)
        ).fetchone()
        return f"{head}{row[0]} {row[1]} {row[2]}: {_short(row[3])}\n"
    if sample.kind == "turn":
        return head + "".join(_turn(connection, sample))
    return head + "".join(_session(connection, sample.session_id))


def _short(payload_json: str) -> str:
    payload = json.loads(payload_json)
    payload.pop("_branch", None)
    response = payload.get("tool_response")
    if isinstance(response, dict):
        for name in ("originalFile", "oldTodos", "structuredPatch"):
            response.pop(name, None)
    parts = [
        _ends(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)) for value in payload.values()
    ]
    return "\n".join(parts)


def _ends(text: str, most: int = _SHOWN_CHARS) -> str:
    return text if len(text) <= most else f"{text[: most * 2 // 3]} […] {text[-most // 3 :]}"


def _turn(connection: Database, sample: Sample) -> Iterator[str]:
    before = connection.execute(
        "SELECT coalesce(max(id), 0) FROM events WHERE session_id = ? AND id < ? AND kind = 'turn_end'",
        (sample.session_id, sample.event_id),
    ).fetchone()[0]
    rows = connection.execute(
        "SELECT kind, tool, action, outcome, payload_json FROM events WHERE session_id = ? AND id > ? AND id <= ? ORDER BY id",
        (sample.session_id, before, sample.event_id),
    )
    deeds: list[str] = []
    for kind, tool, action, outcome, payload_json in rows:
        payload = json.loads(payload_json)
        if kind == "prompt":
            yield f"PROMPT: {_ends(payload.get('prompt', ''), 900)}\n"
        elif kind == "turn_end":
            yield from deeds[-_DEEDS_SHOWN:]
            yield f"CLOSING: {_ends(payload.get('last_assistant_message', ''), 1_800)}\n"
        elif action in ("edit", "run"):
            given = payload.get("tool_input") or {}
            response = payload.get("tool_response") or payload.get("error") or ""
            shown = response.get("stdout", "") if isinstance(response, dict) else str(response)
            what = str(given.get("command") or given.get("file_path") or "")
            deeds.append(f"  {tool} {outcome}: {_ends(what, 120)} => {_ends(shown, 120) if action == 'run' else ''}\n")


def _session(connection: Database, session_id: str) -> Iterator[str]:
    rows = connection.execute(
        "SELECT kind, payload_json FROM events WHERE session_id = ? AND kind IN ('prompt', 'turn_end') ORDER BY id",
        (session_id,),
    ).fetchall()
    if len(rows) > 4 * _TURNS_SHOWN:
        rows = rows[: 2 * _TURNS_SHOWN] + rows[-2 * _TURNS_SHOWN :]
    for kind, payload_json in rows:
        payload = json.loads(payload_json)
        if kind == "prompt":
            yield f"P: {_ends(payload.get('prompt', ''), 150)}\n"
        else:
            yield f"  C: {_ends(payload.get('last_assistant_message', ''), 260)}\n"
