"""Whatever a session says, in whatever order: what it named once stands nowhere in it, before or after."""

from __future__ import annotations

import base64
import json
import string
from urllib.parse import quote

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from siftd.capture.admission import Admission, RedactedEvent
from siftd.model import Event
from siftd.redact import Redactor
from siftd.redact.session_values import SessionValues

SIGNS = "!#%+=?_.-"
WRITTEN = (
    str,
    lambda value: json.dumps(value)[1:-1],
    lambda value: quote(value, safe=""),
    lambda value: base64.b64encode(f"x{value}yz".encode()).decode(),
)
"""The ways in which it may stand there."""

words = st.text(string.ascii_lowercase + " \n.,:{}'\"/\\é", max_size=60)
passwords = st.builds(
    lambda first, middle, last: f"{first}{middle}{last}",
    st.sampled_from(["Tulip", "garden", "K9x", "w4lnut"]),
    st.text(string.ascii_letters + string.digits + SIGNS, min_size=6, max_size=12),
    st.sampled_from(["42", "7Z", "x1"]),
)
ways = st.lists(st.sampled_from(WRITTEN), min_size=1, max_size=6)


def said(number: int, text: str, names: bool) -> Event:
    payload = {"tool_input": {"command": f"step {number}"}, "tool_response": {"stdout": text}}
    if names:
        payload["tool_input"]["password"] = text
    return Event(
        client="claude-code",
        session_id="s",
        kind="tool",
        tool="Bash",
        action="run",
        payload=payload,
        ts=number,
        native_id=f"t{number}",
        identity=(),
    )


def strings(payload_json: bytes) -> str:
    return json.dumps(msgspec.json.decode(payload_json), ensure_ascii=False)


@settings(max_examples=60)
@given(passwords, ways, ways, words, words)
def test_what_was_named_once_stands_nowhere_in_its_session(
    password: str, before: list[object], after: list[object], left: str, right: str
) -> None:
    values = SessionValues()
    door = Admission(b"secret", Redactor(b"secret"), max_payload_bytes=262_144, values=values)
    texts = [f"{left}{way(password)} {right}" for way in (*before, *after)]  # type: ignore[operator]
    stored: list[RedactedEvent] = []
    for number, text in enumerate(texts):
        if number == len(before):
            stored.append(door.admit(said(number, password, names=True)))
        stored.append(door.admit(said(number, text, names=False)))
    if values.known("s") is None:
        return  # one that is taken for a word
    seeking = door.seeking(values.finders(values.unsought()))
    for number, event in enumerate(stored):
        kept = strings(event.payload_json)
        if number < len(before):
            scrubbed = seeking.scrub_event("s", event.tool, event.payload_json.decode(), [])
            kept = kept if scrubbed is None else strings(scrubbed.payload_json.encode())
        for way in WRITTEN[:3]:
            assert way(password) not in kept
        assert base64.b64encode(f"x{password}yz".encode()).decode() not in kept


@settings(max_examples=40)
@given(passwords, words)
def test_hiding_twice_changes_nothing(password: str, text: str) -> None:
    values = SessionValues()
    door = Admission(b"secret", Redactor(b"secret"), max_payload_bytes=262_144, values=values)
    door.admit(said(1, password, names=True))
    event = door.admit(said(2, f"{text}{password}{text}", names=False))
    assert door.scrub_event("s", event.tool, event.payload_json.decode(), []) is None
