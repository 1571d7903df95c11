"""The door: from an event as its client told it to one that may reach a disk.

    redact -> symbols -> stamp -> shorten -> canonical JSON -> hash

`RedactedEvent` is what the log, the store, the backends and the embedders accept, and `Admission` is the only
thing that makes one: a raw event cannot reach the disk because nothing there takes it.

Canonical JSON is UTF-8 with sorted keys, no spaces and no needless escapes. `input_hash` is its SHA-256 in lower
hex, `tokens_est` its characters divided by 4, rounded up.

Identities are hashes keyed by the workspace's secret over the *raw* text, so that new redaction rules change none
of them and nobody can test a guess against them.
"""

from __future__ import annotations

import functools
import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, TypeVar

import msgspec

from siftd.capture.redacted import (
    AdmissionToken,
    Captured,
    Redacted,
    RedactedEvent,
    RedactedIntent,
    RedactedSessionChange,
    ScrubbedEvent,
)
from siftd.capture.truncate import RAW_TEXT_MAX, cut_raw, shorten
from siftd.clients.older import kind_and_action, said_by
from siftd.clients.registry import client_named
from siftd.errors import EnvelopeRejected
from siftd.model import Event, SessionChange
from siftd.redact import Redactor
from siftd.redact.session_values import SessionValues, Values
from siftd.redact.values import KnownValues
from siftd.symbols import symbols_of

__all__ = [
    "Admission",
    "Captured",
    "Redacted",
    "RedactedEvent",
    "RedactedIntent",
    "RedactedSessionChange",
    "as_stored",
    "encode_canonical",
    "estimate_tokens",
    "numbered_uid",
]

NAME_CHARS_MAX = 256
LAST_TS = 253_402_300_799_999
"""The last millisecond of the year 9999: what calendars, and a database's integers, can hold."""
KEY_CHARS = 16
"""Half of a uid: it begins like the native key that it belongs to, so that one index finds both."""
_JSX = (".jsx", ".tsx")
_MADE_UID = re.compile(r"[0-9a-f]{1,64}")
"""What hooks and this house make: no text of anybody's."""
_HASHES = ("uid", "promptHash", "contentHash")
"""What of an intent is a hash of ours, if it looks like one: a rule would look into it for what was encoded."""
_WITHOUT_TEXT = frozenset(
    "forget retry resummarise undo mute link scrub spend scoring pod_change document_removed "
    "entity_merge entity_unmerge team_join team_leave".split()
)
"""Intents of keyed hashes, ids and times alone, and of names that a team's server has. A rule that took a hash for a
secret would unmake a tombstone."""
_KEYS = ("uid", "frame_uid", "native_key", "input_key")
_TEXT_FIELDS = ("session_id", "tool", "cwd", "client", "detail", "prompt_id", "agent_id", "spawned_agent_id")
"""What a kept record holds of a client's words besides its payload."""

StoredEvent = Sequence[Any]
"""Session, tool, payload as JSON, and ids of a client's, some None."""

_Redacted = TypeVar("_Redacted", RedactedEvent, RedactedSessionChange)

encode_canonical: Callable[[Any], bytes] = msgspec.json.Encoder(order="sorted").encode


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and _MADE_UID.fullmatch(value) is not None


def numbered_uid(key: str, occurrence: int | str) -> str:
    """Return the uid of the n-th fact with this key. The key is a keyed hash, so this need not be."""
    return key[:KEY_CHARS] + hashlib.sha256(f"{key}:{occurrence}".encode()).hexdigest()[:KEY_CHARS]


def estimate_tokens(payload_json: bytes) -> int:
    """Return the characters of `payload_json` divided by 4, rounded up."""
    characters = len(payload_json) if payload_json.isascii() else len(payload_json.decode())
    return (characters + 3) // 4


BRANCH_CHARS_MAX = 200
"""Of a branch's name: git itself allows as many as a path may have."""


def _stamps(client: str, branch: str | None) -> dict[str, str]:
    return {"_source": client} | ({"_branch": branch} if branch else {})


class Admission:
    """Redacts with one workspace's secret, rules and limits. Safe to use from several threads."""

    def __init__(
        self, secret: bytes, redactor: Redactor, *, max_payload_bytes: int, values: Values | None = None
    ) -> None:
        """`values` are what is hidden in single sessions; what is redacted under a name is added to them."""
        self._values: Values = SessionValues() if values is None else values
        self._keyed = hashlib.blake2b(key=secret, digest_size=16)
        self._redactor = redactor
        self._max_payload_bytes = max_payload_bytes

    def admit(self, event: Event, *, frame_uid: str | None = None, raw_bytes: int = 0) -> RedactedEvent:
        """Return the event redacted, stamped, shortened and hashed; `raw_bytes` is the size it arrived in."""
        _check_name(event.session_id)
        _check_name(event.tool)
        _check_time(event.ts)
        named = event.session_id, event.tool, event.cwd, event.client, (event.branch or "")[:BRANCH_CHARS_MAX]
        native = event.prompt_id, event.agent_id, event.spawned_agent_id
        payload, (session_id, tool, cwd, client, branch, *ids) = self._redacted(event, (*named, *native), raw_bytes)
        payload_json = self._stamped(payload, event, _stamps(client, branch))
        key = self._native_key(event)
        return RedactedEvent(
            token=AdmissionToken(payload_json),
            uid=self._uid(event, key),
            frame_uid=frame_uid and self._safe_key(frame_uid),
            ts=event.ts,
            session_id=session_id,
            event_kind=event.kind,
            tool=tool,
            action=event.action,
            payload_json=payload_json,
            input_hash=hashlib.sha256(payload_json).hexdigest(),
            tokens_est=estimate_tokens(payload_json),
            client=client,
            outcome=event.outcome,
            cwd=cwd or None,
            native_key=key,
            input_key=self._input_key(event),
            prompt_id=ids[0],
            agent_id=ids[1],
            spawned_agent_id=ids[2],
            said_by=event.said_by,
            from_transcript=event.from_transcript,
        )

    def _redacted(
        self, event: Event, names: tuple[str | None, ...], raw_bytes: int
    ) -> tuple[dict[str, Any], Sequence[Any]]:
        """Return the payload and the names redacted; the payload without what its session redacted under a name, in
        this event or an earlier one. A name is not taken for such a value: it would tear a session in two."""
        jsx = _is_jsx(event.payload)
        payload = event.payload
        known = self._values.known(event.session_id)
        learnt: list[str] = []
        redactor = self._with(known)
        if raw_bytes > RAW_TEXT_MAX:
            redact = functools.partial(redactor.text, jsx=jsx, learn=learnt.append)
            payload = cut_raw(payload, redact, jsx=jsx, most=max(RAW_TEXT_MAX, self._max_payload_bytes))
        # One look of the gate at everything: four cost 12 of a capture's 200 microseconds more.
        payload, *names_redacted = redactor.value((payload, *names), jsx=jsx, learn=learnt.append)
        if known is not None and tuple(names_redacted) != names:
            names_redacted = list(self._redactor.value(names))
        if learnt:
            self._values.learn(event.session_id, learnt)
        if (now := self._values.known(event.session_id)) is not known:  # learnt here, or meanwhile in another thread
            payload = self._with(now).value_once_more(payload, jsx=jsx)
        return payload, names_redacted

    def _with(self, known: KnownValues | None) -> Redactor:
        return self._redactor if known is None else self._redactor.with_searcher(known)

    def seeking(self, sought: Values) -> Admission:
        """Return an admission by today's rules that hides `sought` instead of what is known now."""
        other = copy(self)
        other._values = sought
        return other

    def admit_change(self, change: SessionChange, *, frame_uid: str | None = None) -> RedactedSessionChange:
        """Return a session's change redacted."""
        _check_name(change.session_id)
        _check_time(change.ts)
        session_id = self._redactor.text(change.session_id)
        redactor = self._with(self._values.known(change.session_id))
        return RedactedSessionChange(
            token=AdmissionToken(session_id),
            frame_uid=frame_uid and self._safe_key(frame_uid),
            ts=change.ts,
            session_id=session_id,
            client=self._redactor.text(change.client),
            change=change.change,
            cwd=self._redactor.text(change.cwd) if change.cwd else None,
            detail=redactor.text(change.detail) if change.detail else None,
        )

    def admit_intent(self, kind: str, payload: dict[str, Any], *, ts: int, session_id: str = "") -> RedactedIntent:
        """Return an intent with every string of its payload redacted, save the hashes and ids that we made."""
        if kind not in _WITHOUT_TEXT:
            stored = {name: payload[name] for name in _HASHES if _is_hash(payload.get(name))}
            redactor = self._with(self._values.known(session_id))
            payload = redactor.value({name: value for name, value in payload.items() if name not in stored}) | stored
        payload_json = encode_canonical(payload)
        return RedactedIntent(
            token=AdmissionToken(payload_json),
            kind=kind,
            ts=ts,
            payload_json=payload_json,
            session_id=session_id and self._redactor.text(session_id),
        )

    def readmit(self, stored: dict[str, Any], *, learns: bool = False) -> Captured:
        """Return what `as_stored` wrote (a spool file, a log record), redacted once more by today's rules.

        With `learns` its session hides everywhere what is redacted under a name only now. Raises EnvelopeRejected for
        anything else: anybody may have changed such a file, or made it.
        """
        names = ("session_id",) if stored.get("kind") == "session" else ("session_id", "tool")
        payload = stored.get("payload", {})
        if not isinstance(payload, dict) or not all(isinstance(stored.get(name), str) for name in names):
            raise _bad_shape()
        session_id = str(stored["session_id"])
        named = {name: text for name in _TEXT_FIELDS if isinstance(text := stored.get(name), str)}
        # One look of the gate at payload and names, as in `_redacted`.
        payload, *texts = self._hidden(session_id, (payload, *named.values()), jsx=_is_jsx(payload), learns=learns)
        if self.hides(session_id) and texts != list(named.values()):  # a name is not taken for what its session hides
            texts = [self.scrub_text(text) for text in named.values()]
        stored = stored | dict(zip(named, texts, strict=True))
        if isinstance(detail := stored.get("detail"), str):
            stored["detail"] = self.scrub_text(detail, session_id)
        stored |= {name: self._safe_key(key) for name in _KEYS if isinstance(key := stored.get(name), str)}
        if stored.get("kind") == "session":
            return _made(
                RedactedSessionChange, _fields(RedactedSessionChange, stored), AdmissionToken(stored["session_id"])
            )
        payload_json = encode_canonical(payload)
        fields = _fields(RedactedEvent, stored) | {
            **_what_it_is(stored),
            "payload_json": payload_json,
            "input_hash": hashlib.sha256(payload_json).hexdigest(),
            "tokens_est": estimate_tokens(payload_json),
        }
        return _made(RedactedEvent, fields, AdmissionToken(payload_json))

    def _hidden(self, session_id: str, payload: Any, *, jsx: bool, learns: bool) -> Any:
        """Return a stored payload redacted, and without what its session redacted under a name."""
        known = self._values.known(session_id)
        learnt: list[str] = []
        payload = self._with(known).value(payload, jsx=jsx, learn=learnt.append if learns else None)
        if learnt:
            self._values.learn(session_id, learnt)
        now = self._values.known(session_id)
        return payload if now is known else self._with(now).value_once_more(payload, jsx=jsx)

    def scrub_event(
        self, session_id: str, tool: str, payload_json: str, ids: Sequence[str | None], *, learns: bool = False
    ) -> ScrubbedEvent | None:
        """Return a stored event by today's rules; None when nothing of it changes. Text that is no JSON is text.

        `learns` as in `readmit`.
        """
        payload = _decoded(payload_json)
        if payload is payload_json:
            new_json = self.scrub_text(payload_json, session_id)
        else:
            jsx = isinstance(payload, dict) and _is_jsx(payload)
            new = self._hidden(session_id, payload, jsx=jsx, learns=learns)
            new_json = payload_json if new is payload else encode_canonical(new).decode()
        names = self._redactor.text(session_id), self._redactor.text(tool)
        new_ids = tuple(each and self._redactor.text(each) for each in ids)
        if (*names, new_json, *new_ids) == (session_id, tool, payload_json, *ids):
            return None
        encoded = new_json.encode("utf-8", "surrogatepass")
        return ScrubbedEvent(*names, new_json, hashlib.sha256(encoded).hexdigest(), (len(new_json) + 3) // 4, new_ids)

    def may_scrub(self, events: Sequence[StoredEvent]) -> list[bool]:
        """Tell of each stored event whether `scrub_event` may change it: all are read at once.

        False is certain where the session hides nothing (`hides`), which an event before it may have taught.
        """
        return self._redactor.may_change(
            [(_decoded(payload), session_id, tool, *filter(None, ids)) for session_id, tool, payload, *ids in events]
        )

    def may_scrub_texts(self, rows: Iterable[Iterable[str | None]]) -> list[bool]:
        """Tell of each row of texts, which belong to no session, whether `scrub_text` may change one."""
        return self._redactor.may_change([filter(None, row) for row in rows])

    def hides(self, session_id: str) -> bool:
        """Whether values are known that this session hides."""
        return self._values.known(session_id) is not None

    def scrub_text(self, text: str, session_id: str = "") -> str:
        """Return a stored text by today's rules; one of a session without what that hides."""
        return self._with(self._values.known(session_id)).text(text)

    def take_rules(self, redactor: Redactor) -> None:
        """Go on with another redactor: the configuration has other rules now."""
        self._redactor = redactor

    def _safe_key(self, key: str) -> str:
        """Return a key as hooks and we make them; one that holds anything else, and a secret in it, as a hash."""
        if _MADE_UID.fullmatch(key) or self._redactor.text(key) == key:
            return key
        return self._hash("key", key)

    def _stamped(self, payload: dict[str, Any], event: Event, stamps: dict[str, str]) -> bytes:
        stamped = {**payload, **stamps}
        # A subagent's transcript lacks the response: without it here too, hook and backfill stamp the same.
        named = payload if event.agent_id is None else {"tool_input": payload.get("tool_input")}
        if symbols := symbols_of(event.tool, named):
            stamped["symbols"] = symbols
        payload_json = encode_canonical(stamped)
        if len(payload_json) <= self._max_payload_bytes:
            return payload_json
        return encode_canonical(shorten(stamped, encode_canonical, self._max_payload_bytes) | stamps)

    def delivery_uid(self, event: Event) -> str:
        """Return what stands in a frame's uid's place for an event that may be delivered by several hooks."""
        return self._hash("delivery", event.client, event.session_id, *event.delivery)

    def fact_uid(self, session_id: str, event_uid: str, text: str) -> str:
        """Return what makes a fact that is taken from the same words twice one fact: a keyed hash."""
        return self._hash("fact", session_id, event_uid, " ".join(text.casefold().split()))

    def _uid(self, event: Event, key: str | None) -> str | None:
        if not event.identity:
            return secrets.token_hex(16)
        if event.native_id is not None or key is None:
            own = self._hash("uid", event.session_id, *event.identity)
            return own if key is None else key[:KEY_CHARS] + own[:KEY_CHARS]
        return None if event.occurrence is None else numbered_uid(key, event.occurrence)

    def _native_key(self, event: Event) -> str | None:
        if event.native_id is not None:
            return self._hash("native", event.client, event.native_id)
        if event.identity and event.identity[0] != "uid":
            return self._hash("counted", event.session_id, *event.identity)
        return None

    def _input_key(self, event: Event) -> str | None:
        """What tells facts of one client's id apart: a call's input; a prompt's or a turn's end's kind and text."""
        if event.native_id is None:
            return None
        if "tool_input" not in event.payload:
            return self._hash("input", *event.identity)
        return self._hash("input", client_named(event.client).identify_input(event.tool, event.payload["tool_input"]))

    def _hash(self, *parts: str) -> str:
        keyed = self._keyed.copy()
        keyed.update(msgspec.json.encode(parts))
        return keyed.hexdigest()


def as_stored(event: Captured) -> dict[str, Any]:
    """Return what a spool file holds of `event`; `Admission.readmit` takes it back."""
    fields: dict[str, Any] = {
        name: value
        for name in event.__struct_fields__
        if name != "token" and (value := getattr(event, name)) is not None
    }
    if isinstance(event, RedactedSessionChange):
        return {"kind": "session", **fields}
    del fields["payload_json"]
    return {"kind": "capture", **fields, "payload": msgspec.Raw(event.payload_json)}


def _fields(struct: type[msgspec.Struct], stored: dict[str, Any]) -> dict[str, Any]:
    return {name: stored[name] for name in struct.__struct_fields__ if name in stored and name != "token"}


def _made(struct: type[_Redacted], fields: dict[str, Any], token: AdmissionToken) -> _Redacted:
    """Return a struct of fields that may be of any type. Raises EnvelopeRejected where one is not of ours."""
    try:
        made = msgspec.convert(fields | {"token": token}, struct)
    except msgspec.ValidationError:  # which may quote
        raise _bad_shape() from None
    _check_time(made.ts)
    return made


def _bad_shape() -> EnvelopeRejected:
    return EnvelopeRejected("bad_shape", "what was kept has a missing or wrong field")


def _what_it_is(stored: dict[str, Any]) -> dict[str, Any]:
    """Return kind, action and whose words it brings, of one from before they were kept by what it holds."""
    tool, is_hooked, is_native = (
        stored["tool"],
        stored.get("frame_uid") is not None,
        stored.get("native_key") is not None,
    )
    kind, action = kind_and_action(stored.get("event_kind"), stored.get("action"), tool)
    whose = said_by(stored.get("said_by"), tool, is_hooked=is_hooked, is_native=is_native)
    return {"event_kind": kind, "action": action, "said_by": whose}


def _check_name(name: str) -> None:
    if not name or len(name) > NAME_CHARS_MAX:
        raise EnvelopeRejected("bad_name", "a session id or tool name is empty or longer than 256 characters")


def _check_time(ts: int) -> None:
    if not 0 <= ts <= LAST_TS:
        raise EnvelopeRejected("bad_time", "a time is before 1970 or after 9999")


def _decoded(payload_json: str) -> Any:
    """Return a stored payload; what is no JSON as it is."""
    try:
        return msgspec.json.decode(payload_json)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return payload_json


def _is_jsx(payload: dict[str, Any]) -> bool:
    tool_input = payload.get("tool_input")
    path = tool_input.get("file_path") if isinstance(tool_input, dict) else None
    return isinstance(path, str) and path.endswith(_JSX)
