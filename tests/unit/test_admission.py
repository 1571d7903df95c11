"""What an admitted event is: redacted, stamped, canonical, hashed, small enough, and identified."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any

import msgspec
import pytest

from siftd.capture.admission import (
    LAST_TS,
    Admission,
    RedactedEvent,
    RedactedIntent,
    RedactedSessionChange,
    as_stored,
    encode_canonical,
    estimate_tokens,
    numbered_uid,
)
from siftd.clients.registry import CLIENTS
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange
from siftd.redact import Redactor

LIMIT = 262_144
TOKEN = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2fG4hJ6"
MIB = 1024 * 1024


@pytest.fixture(scope="module")
def admission() -> Admission:
    return made()


def made(secret: bytes = b"secret", limit: int = LIMIT) -> Admission:
    return Admission(secret, Redactor(secret), max_payload_bytes=limit)


def event(**fields: Any) -> Event:
    values: dict[str, Any] = {
        "client": "claude-code",
        "session_id": "s1",
        "kind": "tool",
        "tool": "Bash",
        "action": "run",
        "payload": {"tool_input": {"command": "ls"}, "tool_response": {"stdout": "a"}},
        "ts": 1_795_219_305_436,
        "identity": ("tool", "t1"),
        "native_id": "t1",
        "outcome": "ok",
    }
    return Event(**values | fields)


def text_of(admitted: RedactedEvent) -> str:
    return admitted.payload_json.decode()


# Canonical, stamped, hashed


def test_the_payload_is_canonical_json(admission: Admission) -> None:
    payload = {"z": 1, "a": {"ü": "漢 é / <&> \u2028", "B": [1.5, None, True], "b": '\n"\\'}}
    admitted = admission.admit(event(payload=payload))
    stamped = {**payload, "_source": "claude-code"}
    expected = json.dumps(stamped, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert text_of(admitted) == expected
    assert text_of(admitted).startswith('{"_source":"claude-code","a":{"B":')


def test_equal_facts_have_equal_hashes_whatever_the_order_of_their_keys(admission: Admission) -> None:
    one = admission.admit(event(payload={"a": 1, "b": {"c": 2, "d": 3}}))
    other = admission.admit(event(payload={"b": {"d": 3, "c": 2}, "a": 1}, session_id="s2"))
    assert one.input_hash == other.input_hash == hashlib.sha256(one.payload_json).hexdigest()


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("abc", 1), ("abcd", 1), ("abcde", 2), ("漢字漢字漢", 2)])
def test_tokens_are_characters_divided_by_four_rounded_up(text: str, tokens: int) -> None:
    assert estimate_tokens(text.encode()) == tokens


def test_the_estimate_of_an_event_is_of_its_stored_payload(admission: Admission) -> None:
    admitted = admission.admit(event(payload={"text": "漢" * 41}))
    assert admitted.tokens_est == -(-len(text_of(admitted)) // 4)


def test_the_client_that_did_the_work_is_stamped_and_cannot_be_claimed_by_the_payload(admission: Admission) -> None:
    admitted = admission.admit(event(client="codex", payload={"_source": "somebody else"}))
    assert json.loads(admitted.payload_json)["_source"] == "codex"


def test_the_symbols_of_an_edit_are_stamped(admission: Admission) -> None:
    edit = {"file_path": "/src/a.py", "old_string": "", "new_string": "def b():\n    pass\n\n\ndef a():\n    pass\n"}
    admitted = admission.admit(event(tool="Edit", payload={"tool_input": edit}))
    assert json.loads(admitted.payload_json)["symbols"] == ["a", "b"]
    assert "symbols" not in json.loads(admission.admit(event()).payload_json)


# Redacted


def test_no_text_of_an_event_keeps_a_secret(admission: Admission) -> None:
    told = f"x {TOKEN} y"
    admitted = admission.admit(
        event(session_id=told, tool=told, cwd=told, payload={told: [told, {"deep": told}], "tool_input": {"x": told}})
    )
    kept = [value for value in msgspec.structs.astuple(admitted) if isinstance(value, str | bytes)]
    assert not any(TOKEN in (value.decode() if isinstance(value, bytes) else value) for value in kept)
    assert "[REDACTED:github-token:" in text_of(admitted)


def test_no_text_of_a_session_s_change_or_of_an_intent_keeps_a_secret(admission: Admission) -> None:
    change = admission.admit_change(
        SessionChange(client="c", session_id=f"a {TOKEN}", change="start", ts=1, cwd=f"/x {TOKEN}", detail=f"b {TOKEN}")
    )
    assert TOKEN not in str(msgspec.structs.astuple(change))
    intent = admission.admit_intent("remember", {"text": f"the key is {TOKEN}"}, ts=1, session_id=f"a {TOKEN}")
    assert TOKEN not in str(msgspec.structs.astuple(intent))


@pytest.mark.parametrize("kind", [RedactedEvent, RedactedSessionChange, RedactedIntent])
def test_nothing_but_the_door_makes_what_the_log_accepts(admission: Admission, kind: type[Any]) -> None:
    good: Any = {
        RedactedEvent: admission.admit(event()),
        RedactedSessionChange: admission.admit_change(SessionChange(client="c", session_id="s", change="end", ts=1)),
        RedactedIntent: admission.admit_intent("undo", {}, ts=1),
    }.get(kind)  # type: ignore[call-overload]
    fields = {name: getattr(good, name) for name in good.__struct_fields__ if name != "token"}
    with pytest.raises(TypeError):
        kind(**fields)
    with pytest.raises(TypeError):
        kind(token=object(), **fields)
    with pytest.raises(TypeError):
        kind(**fields | {"token": admission.admit(event()).token})
    with pytest.raises((TypeError, msgspec.ValidationError)):
        msgspec.convert({**fields, "token": None}, kind)
    with pytest.raises((AttributeError, dataclasses.FrozenInstanceError)):
        good.ts = 5
    told = "session_id" if kind is RedactedSessionChange else "payload_json"
    with pytest.raises(TypeError):
        msgspec.structs.replace(good, **{told: b"raw"})


# Refused


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"session_id": ""}, "bad_name"),
        ({"tool": ""}, "bad_name"),
        ({"session_id": "x" * 257}, "bad_name"),
        ({"tool": "x" * 257}, "bad_name"),
        ({"ts": -1}, "bad_time"),
        ({"ts": LAST_TS + 1}, "bad_time"),
    ],
)
def test_what_no_column_can_hold_is_rejected_with_its_reason(
    admission: Admission, fields: dict[str, Any], reason: str
) -> None:
    with pytest.raises(EnvelopeRejected) as refused:
        admission.admit(event(**fields))
    assert refused.value.reason == reason
    if reason == "bad_time" or "session_id" in fields:
        with pytest.raises(EnvelopeRejected):
            admission.admit_change(
                SessionChange(
                    client="c", session_id=fields.get("session_id", "s"), change="end", ts=fields.get("ts", 1)
                )
            )


# Identity


def test_the_same_call_has_the_same_uid_from_hook_and_transcript(admission: Admission) -> None:
    """Payloads may differ: what a hook is told is not what a transcript keeps."""
    hook = admission.admit(event(), frame_uid="f1")
    transcript = admission.admit(event(from_transcript=True, payload={"tool_input": {"command": "ls"}}, ts=5))
    assert hook.uid == transcript.uid
    assert (hook.native_key, hook.input_key) == (transcript.native_key, transcript.input_key)


def test_the_same_id_with_another_input_is_told_apart_by_its_input_key(admission: Admission) -> None:
    one, other = (admission.admit(event(payload={"tool_input": {"command": text}})) for text in ("ls", "rm"))
    assert one.uid == other.uid
    assert one.input_key != other.input_key
    assert other.input_key is not None
    assert numbered_uid(one.uid or "", other.input_key) != one.uid


def test_another_session_or_another_id_is_another_event(admission: Admission) -> None:
    uids = {
        admission.admit(each).uid
        for each in (event(), event(session_id="s2"), event(identity=("tool", "t2"), native_id="t2"))
    }
    assert len(uids) == 3
    assert admission.admit(event()).native_key == admission.admit(event(session_id="s2")).native_key


def test_identities_are_keyed_by_the_workspace_s_secret(admission: Admission) -> None:
    other = made(b"another secret")
    assert admission.admit(event()).uid != other.admit(event()).uid
    assert admission.admit(event()).input_key != other.admit(event()).input_key


def test_identities_are_of_the_raw_text(admission: Admission) -> None:
    """New rules must not make old facts new; and two secrets in the same place are two inputs."""
    prompts = [
        admission.admit(
            event(tool="UserPromptSubmit", payload={"prompt": text}, identity=("prompt", "p1", text), native_id="p1")
        )
        for text in (f"use {TOKEN}", f"use {TOKEN[:-1]}7", f"use {TOKEN}")
    ]
    assert prompts[0].uid == prompts[2].uid != prompts[1].uid


def test_without_any_identity_every_delivery_is_a_fact_of_its_own(admission: Admission) -> None:
    bare = event(identity=(), native_id=None)
    assert admission.admit(bare).uid != admission.admit(bare).uid


def test_where_the_client_gives_no_id_the_occurrence_makes_the_uid(admission: Admission) -> None:
    counted = event(tool="UserPromptSubmit", payload={"prompt": "go on"}, identity=("prompt", "go on"), native_id=None)
    live = admission.admit(counted)
    assert (live.uid, live.input_key) == (None, None)
    assert live.native_key is not None
    second = admission.admit(msgspec.structs.replace(counted, occurrence=2, from_transcript=True))
    assert second.uid == numbered_uid(live.native_key, 2)


def test_a_uid_given_by_an_api_client_makes_its_repeat_the_same(admission: Admission) -> None:
    one, again = (admission.admit(event(identity=("uid", "mine"), native_id=None, ts=ts)) for ts in (1, 2))
    assert one.uid == again.uid is not None


def test_a_hook_s_envelope_is_admitted_as_its_decoder_tells_it(admission: Admission) -> None:
    envelope = {
        "session_id": "s1",
        "cwd": "/src",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_response": {"stdout": "a"},
        "tool_use_id": "t1",
    }
    told = CLIENTS["claude-code"].decode(json.dumps(envelope).encode(), ts=7)
    assert isinstance(told, Event)
    assert admission.admit(told).uid == admission.admit(event()).uid


# Small enough


def test_a_payload_at_the_limit_is_kept_verbatim_and_one_above_is_shortened(admission: Admission) -> None:
    room = LIMIT - len(admission.admit(event(payload={"text": ""})).payload_json)
    whole = admission.admit(event(payload={"text": "x" * room}))
    assert (len(whole.payload_json), "left out" in text_of(whole)) == (LIMIT, False)
    cut = admission.admit(event(payload={"text": "x" * (room + 1)}))
    assert len(cut.payload_json) <= LIMIT
    assert "left out" in text_of(cut)


@pytest.mark.slow
@pytest.mark.parametrize(
    "payload",
    [
        pytest.param({"tool_response": {"stdout": "HEAD" + "x" * MIB + "TAIL"}}, id="one long text"),
        pytest.param({"tool_response": {"stdout": "HEAD" + "🦓" * MIB + "TAIL"}}, id="zebras"),
        pytest.param({"tool_response": {"stdout": "HEAD" + '\\"\n\x01' * MIB + "TAIL"}}, id="escapes"),
        pytest.param({"tool_response": ["🦓" * 90] * 5000}, id="many short texts"),
        pytest.param({"tool_response": list(range(200_000))}, id="numbers"),
        pytest.param({str(number): number for number in range(50_000)}, id="many keys"),
        pytest.param({"k" * MIB: "x"}, id="a long key"),
        pytest.param({"a": list(range(50_000)), "b": list(range(50_000)), "c": "x" * MIB}, id="several"),
    ],
)
def test_whatever_is_large_is_made_to_fit(payload: dict[str, Any]) -> None:
    for limit in (4_096, LIMIT):
        admitted = made(limit=limit).admit(event(payload=payload))
        assert len(admitted.payload_json) <= limit
        kept = json.loads(admitted.payload_json)
        assert kept["_source"] == "claude-code"
        assert "bytes left out" in text_of(admitted)
        assert admitted.input_hash == hashlib.sha256(admitted.payload_json).hexdigest()


def test_head_and_tail_stay_and_the_bytes_between_are_counted(admission: Admission) -> None:
    text = "HEAD" + "é" * MIB + "TAIL"
    kept = json.loads(admission.admit(event(payload={"text": text})).payload_json)["text"]
    head, _, rest = kept.partition("\n[… ")
    number, _, tail = rest.partition(" bytes left out …]\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) > 10_000
    assert len(tail) > 10_000
    assert int(number) == len(text.encode()) - len(head.encode()) - len(tail.encode())


@pytest.mark.slow
def test_names_and_paths_stay_whole_beside_what_is_shortened(admission: Admission) -> None:
    payload = {
        "tool_input": {"file_path": "/src/" + "deep/" * 30 + "a.py"},
        "tool_response": {"rows": list(range(200_000))},
    }
    kept = json.loads(admission.admit(event(payload=payload)).payload_json)
    assert kept["tool_input"] == payload["tool_input"]


# Kept and taken back


def test_what_a_spool_file_holds_is_taken_back_the_same(admission: Admission) -> None:
    admitted = admission.admit(event(cwd="/src", prompt_id="p1"), frame_uid="f1")
    again = admission.readmit(msgspec.json.decode(msgspec.json.encode(as_stored(admitted))))
    assert again == admitted
    counted = admission.admit(event(tool="UserPromptSubmit", identity=("prompt", "go on"), native_id=None))
    assert admission.readmit(msgspec.json.decode(msgspec.json.encode(as_stored(counted)))) == counted
    change = admission.admit_change(SessionChange(client="c", session_id="s", change="start", ts=1, cwd="/x"))
    assert admission.readmit(msgspec.json.decode(msgspec.json.encode(as_stored(change)))) == change


def test_what_is_taken_back_is_redacted_once_more(admission: Admission) -> None:
    kept = msgspec.json.decode(msgspec.json.encode(as_stored(admission.admit(event()))))
    kept["payload"]["tool_response"]["stdout"] = TOKEN
    again = admission.readmit(kept)
    assert isinstance(again, RedactedEvent)
    assert TOKEN not in text_of(again)
    assert again.input_hash == hashlib.sha256(again.payload_json).hexdigest()
    assert again.payload_json == encode_canonical(json.loads(again.payload_json))
