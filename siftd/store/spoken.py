"""What was said in sessions: prompts, the agent's words on its way, its closing words; and which of it is over.

A turn is over when its end was told, when the next prompt came, or when its session ended or was left alone. What the
agent said on its way is often read from its transcript after the turn's end; its time says in which turn it was.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from siftd.model import Kind, SaidBy
from siftd.store.payload import HEAD_CHARS, client_of, find_object

_SPOKEN = """
SELECT e.id, e.ts, e.session_id, e.kind, e.said_by, e.payload_json FROM events e
WHERE e.id > ?1 AND e.agent_id IS NULL
AND (e.kind IN ('prompt', 'turn_end', 'assistant_text') OR e.outcome = 'interrupted' AND instr(e.payload_json, ?2) > 0)
ORDER BY e.id LIMIT ?3
"""
_OVER = """
SELECT max(CASE kind WHEN 'turn_end' THEN id END), max(CASE kind WHEN 'turn_end' THEN ts END),
    max(CASE kind WHEN 'prompt' THEN id END),
    EXISTS (SELECT 1 FROM sessions s WHERE s.session_id = ?1 AND (s.last_ts < ?2 OR s.ended_ts >= s.last_ts))
FROM events WHERE session_id = ?1 AND kind IN ('turn_end', 'prompt') AND agent_id IS NULL
"""
_TEXT_OF = {"prompt": "prompt", "turn_end": "last_assistant_message", "assistant_text": "text"}


class Spoken(NamedTuple):
    """An event of the main conversation that is words."""

    event_id: int
    ts: int
    session_id: str
    kind: Kind
    said_by: SaidBy
    text: str
    client: str
    is_over: bool
    """Whether the turn is over in which it was said."""


def list_spoken(connection: sqlite3.Connection, after: int, idle_since: int, refused: str, limit: int) -> list[Spoken]:
    """Return what was said after an event, in the order of its coming; sessions silent since then are over.

    A reason with which a person refused a call is a prompt of theirs; `refused` is what a client writes before it.
    """
    said = []
    ends: dict[str, tuple[int, int, int, bool]] = {}
    rows = connection.execute(_SPOKEN, (after, refused, limit)).fetchall()
    for event_id, ts, session_id, kind, said_by, payload in rows:
        if session_id not in ends:
            ended_id, ended_ts, asked_id, is_left = connection.execute(_OVER, (session_id, idle_since)).fetchone()
            ends[session_id] = (ended_id or 0, ended_ts or -1, asked_id or 0, bool(is_left))
        ended_id, ended_ts, asked_id, is_left = ends[session_id]
        is_reason = kind not in _TEXT_OF
        text = _text("error" if is_reason else _TEXT_OF[kind], payload)
        said.append(
            Spoken(
                event_id,
                ts,
                session_id,
                "prompt" if is_reason else kind,
                "person" if is_reason else said_by,
                text.partition(refused)[2].strip() if is_reason else text,
                _client(payload),
                is_left or ended_id >= event_id or ended_ts >= ts or asked_id > event_id,
            )
        )
    return said


def _text(field: str, payload_json: str) -> str:
    text = (find_object(payload_json) or {}).get(field)
    return text if isinstance(text, str) else ""


def _client(payload_json: str) -> str:
    return client_of(payload_json[:HEAD_CHARS]) or ""
