"""From what arrives (a hook frame, a `capture` request, a transcript's event) to what may be kept.

Daemon and spool share this path, so that both decode, ignore and redact alike.
"""

from __future__ import annotations

import fnmatch
from typing import Any

import msgspec

from siftd import custom_rules
from siftd.capture.admission import Admission, Captured, RedactedIntent
from siftd.capture.touched_folders import touched_folders
from siftd.clients.client import Client
from siftd.clients.older import kind_and_action
from siftd.clients.own import MARK as BLOCK_MARK
from siftd.clients.own import block_id, without_blocks
from siftd.clients.registry import client_of_frame
from siftd.config import Settings
from siftd.errors import EnvelopeRejected, PayloadTooLarge, WrongWorkspace
from siftd.graph.names import Marks
from siftd.model import Event, SessionChange
from siftd.redact import Redactor
from siftd.redact.env_files import EnvValues
from siftd.redact.own import OwnRules
from siftd.redact.session_values import SessionValues
from siftd.redact.spans import Searcher
from siftd.wire.frames import MAX_MESSAGE_BYTES, split_hook
from siftd.wire.requests import Capture, HookHeader, decode_header
from siftd.workspace.belonging import Belonging
from siftd.workspace.branches import Branches
from siftd.workspace.identity import path_from_text
from siftd.workspace.paths import WorkspacePaths
from siftd.workspace.secret import ensure_secret

_PATH_FIELDS = ("file_path", "notebook_path", "path")


class Ignored(EnvelopeRejected):
    """The configuration says that this is not to be captured. Nothing of it is kept or counted."""

    code = "ignored"


NAMED_MAX = 256
"""Transcripts that wait to be taken. Arbitrary: a tick takes them all."""
OPT_OUT_WORD = "#siftd-off"
"""In a prompt it opts the session out, from that prompt on."""


class OptedOut(Ignored):
    """A person opts this session out, with a word in a prompt or SIFTD_OFF=1: nothing from then on is kept."""

    code = "opted_out"

    def __init__(self, session_id: str, ts: int) -> None:
        super().__init__("opted_out", "the session is opted out")
        self.session_id = session_id
        self.ts = ts


class Intake:
    """One workspace's way in. Safe to use from several threads."""

    def __init__(
        self, paths: WorkspacePaths, settings: Settings, *, root: str | None = None, in_background: bool = False
    ) -> None:
        """`root` is the workspace's folder; the values of its `.env`-like files are redacted too.

        With `in_background` a thread looks for those that lie deeper (`siftd.redact.env_files`).
        """
        secret = ensure_secret(paths)
        self._secret = secret
        self.block_id = block_id(secret)
        """In the opening of each block that this workspace gives."""
        self.marks = Marks(secret)
        """By which records name entities of the graph."""
        self._settings = settings
        self._values = None if root is None else EnvValues(root, in_background=in_background)
        self._belonging = Belonging(paths.key)
        self.redactor = self._make_redactor(settings)
        self.values = SessionValues()
        self.admission = Admission(
            secret, self.redactor, max_payload_bytes=settings.capture_max_payload_bytes, values=self.values
        )
        self._ignored: list[str] = settings.capture_ignore
        self.branches = Branches()
        self.named: dict[str, tuple[Client, str]] = {}
        """The transcripts that hooks have named and nobody has taken from here yet, each with client and session."""

    def take_rules(self, settings: Settings) -> None:
        """Redact by the rules of other settings from now on."""
        self._settings = settings
        self.redactor = self._make_redactor(settings)
        self.admission.take_rules(self.redactor)

    def wait_for_values(self, seconds: float) -> None:
        """Wait until the first look at the workspace's `.env`-like files has ended, or the time is over."""
        if self._values is not None:
            self._values.wait(seconds)

    @property
    def settings(self) -> Settings:
        """What is redacted and ignored by now."""
        return self._settings

    def redactor_for(self, root: str) -> Redactor:
        """Return a redactor that knows the values of another folder's `.env`-like files. Reads them."""
        return make_redactor(self._secret, self._settings, EnvValues(root))

    def from_hook(self, message: bytes, *, is_asking: bool = False) -> Captured:
        """Return what a hook frame says. Raises EnvelopeRejected, RequestInvalid, Ignored or WrongWorkspace.

        Who asks must be in a folder of this workspace. What is to be kept may also come from one that is gone: a
        worktree is often removed before its last event is here.
        """
        header_bytes, raw = split_hook(message)
        header = decode_header(header_bytes)
        whose = self._belonging.whose(path_from_text(header.root))
        if whose == "another's" or (is_asking and whose != "ours"):
            raise WrongWorkspace("the hook's folder belongs to another workspace", hint="`mem doctor` there")
        client = client_of_frame(header.client, raw)
        if client is None:
            raise EnvelopeRejected("unknown_client", "no decoder for the client of this hook")
        if header.bytes > len(raw):
            raise PayloadTooLarge
        event = client.decode(raw, ts=header.ts)
        if self._values is not None and whose == "ours":
            self._values.touch([path_from_text(header.root)])
        if isinstance(event, Event) and whose == "ours":
            event = msgspec.structs.replace(event, branch=self.branches.of(path_from_text(event.cwd or header.root)))
        if header.off:
            raise OptedOut(event.session_id, event.ts)
        if event.transcript is not None and not is_asking and len(self.named) < NAMED_MAX:
            self.named[event.transcript] = client, event.session_id
        frame_uid = header.frame_uid
        if isinstance(event, Event) and event.delivery:
            frame_uid = self.admission.delivery_uid(event)
        return self.admit(event, frame_uid=frame_uid, raw_bytes=len(raw), may_hold_block=BLOCK_MARK in raw)

    def is_ours(self, header: HookHeader) -> bool:
        """Whether the folder that a hook frame names is one of this workspace, and there."""
        return self._belonging.whose(path_from_text(header.root)) == "ours"

    def from_capture(self, request: Capture, raw_bytes: int) -> Captured:
        """Return what a `capture` request says; a `uid` makes a repeat harmless.

        Whoever sends one may be anybody of this user: whatever it names itself, its words are nobody's we know.
        """
        kind, action = kind_and_action(None, None, request.tool)
        event = Event(
            client=request.source,
            session_id=request.session_id,
            kind=kind,
            tool=request.tool,
            action=action,
            payload=plain(request.payload),
            ts=request.ts,
            identity=("uid", request.uid) if request.uid else (),
            native_id=None,
            outcome=None if "prompt" in request.payload else "failed" if "error" in request.payload else "ok",
            cwd=request.cwd,
            said_by="outside",
        )
        return self.admit(event, raw_bytes=raw_bytes)

    def admit(
        self,
        event: Event | SessionChange,
        *,
        frame_uid: str | None = None,
        raw_bytes: int = 0,
        may_hold_block: bool = True,
    ) -> Captured:
        """Return the event redacted and without what siftd gave the agent, or say why it is not to be kept."""
        if raw_bytes > MAX_MESSAGE_BYTES:
            raise PayloadTooLarge
        if isinstance(event, SessionChange):
            return self.admission.admit_change(event, frame_uid=frame_uid)
        if self._ignored and self._is_ignored(event):
            raise Ignored("ignored", "capture.ignore says that this is not captured")
        if may_hold_block:
            event = msgspec.structs.replace(event, payload=without_blocks(event.payload, self.block_id))
        if event.kind == "prompt" and OPT_OUT_WORD in str(event.payload.get("prompt")).split():
            raise OptedOut(event.session_id, event.ts)
        if self._values is not None:
            self._values.touch(touched_folders(event.payload, event.cwd))
        return self.admission.admit(event, frame_uid=frame_uid, raw_bytes=raw_bytes)

    def _make_redactor(self, settings: Settings) -> Redactor:
        return make_redactor(self._secret, settings, self._values)

    def opt_out(self, session_id: str, since: int) -> RedactedIntent:
        """Return the intent that keeps nothing more of a session ("": of any)."""
        return self.admission.admit_intent("opt-out", {"session": session_id, "since": since}, ts=since)

    def _is_ignored(self, event: Event) -> bool:
        tool_input = event.payload.get("tool_input")
        names = [event.tool]
        if isinstance(tool_input, dict):
            names += [value for field in _PATH_FIELDS if isinstance(value := tool_input.get(field), str)]
        return any(fnmatch.fnmatchcase(name, glob) for name in names for glob in self._ignored)


def make_redactor(secret: bytes, settings: Settings, values: EnvValues | None) -> Redactor:
    """Return the redactor that the settings ask for: the table's rules, one's own, and the workspace's values."""
    own = custom_rules.parse(settings.redact_rules)
    searchers: list[Searcher] = [OwnRules(own)] if own else []
    if values is not None:
        searchers.append(values)
    return Redactor(secret, emails=settings.redact_emails, phones=settings.redact_phones, searchers=searchers)


def plain(value: Any, depth: int = 0) -> Any:
    """Return `value` if canonical JSON can carry it. Raises EnvelopeRejected for what is nested too deeply."""
    if depth > MAX_DEPTH:
        raise EnvelopeRejected("too_deep", f"the payload is nested deeper than {MAX_DEPTH} levels")
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for child in children:
        if isinstance(child, dict | list):
            plain(child, depth + 1)
    return value


MAX_DEPTH = 200
