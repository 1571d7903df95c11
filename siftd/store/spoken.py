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
SELECT e.id, e.ts, e.session_id, e.kind, e.said_by, e.payload_json,
    EXISTS (SELECT 1 FROM events t WHERE t.session_id = e.session_id AND t.kind = 'turn_end'
            AND t.agent_id IS NULL AND (t.id >= e.id OR t.ts >= e.ts))
    OR EXISTS (SELECT 1 FROM events t WHERE t.session_id = e.session_id AND t.kind = 'prompt' AND t.id > e.id)
    OR EXISTS (SELECT 1 FROM sessions s WHERE s.session_id = e.session_id
               AND (s.last_ts < ?2 OR s.ended_ts >= s.last_ts))
FROM events e WHERE e.id > ?1 AND e.agent_id IS NULL
AND (e.kind IN ('prompt', 'turn_end', 'assistant_text') OR e.outcome = 'interrupted' AND instr(e.payload_json, ?4) > 0)
ORDER BY e.id LIMIT ?3
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
    for event_id, ts, session_id, kind, said_by, payload, is_over in connection.execute(
        _SPOKEN, (after, idle_since, limit, refused)
    ):
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
                bool(is_over),
            )
        )
    return said


def _text(field: str, payload_json: str) -> str:
    text = (find_object(payload_json) or {}).get(field)
    return text if isinstance(text, str) else ""


def _client(payload_json: str) -> str:
    return client_of(payload_json[:HEAD_CHARS]) or ""
