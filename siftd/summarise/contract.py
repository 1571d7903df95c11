"""What a summary backend takes and gives.

A backend gets a batch of items (redacted, by whoever made them) and gives one verdict for each, in order:

    Summary    a text of at most 400 characters, with the confidence it deserves and the tokens it cost
    TryLater   nothing is wrong with the event: an outage, a rate limit, a model that is missing
    Cannot     this event, by this backend, will not be summarised

Reasons name causes and remedies and never quote captured text: they are stored and shown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import msgspec

from siftd.model import Action, Kind, Scope

MAX_SUMMARY_CHARS = 400


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One event as a backend sees it."""

    event_id: int
    kind: Kind
    tool: str
    action: Action | None = None
    payload: dict[str, Any]
    """The stored payload, parsed: `tool_input` with `tool_response` or `error`; `prompt`; `last_assistant_message`."""
    outcome: str | None = None
    ts: int = 0
    input_hash: str = ""
    request: str | None = None
    """The prompt that it served, where known."""
    cwd: str | None = None
    turn_id: str | None = None
    """What the events of one turn share; None where that is not known."""
    is_repeat: bool = False
    """Whether its session holds the same call with the same result before it."""
    scope: Scope = "event"
    story: tuple[Item, ...] = ()
    """What a turn's or a session's summary stands on, oldest first: prompts, changes, commands, closing words."""


def story_hashes(item: Item) -> list[str]:
    """Return what of a story decides a text about it, for `prompt_hash`; nothing for a single event."""
    deeds = [f"{each.tool}|{each.outcome}|{each.input_hash}" for each in item.story]
    return [item.scope, *deeds] if deeds else []


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A condensation of one event."""

    text: str
    confidence: float
    """Between 0 and 1, from the outcome and from how much was understood; never a model's opinion of itself."""
    tokens_in: int = 0
    tokens_out: int = 0
    model: str | None = None
    """Who wrote it, where that is not the backend that was asked: a model's text that failed the check."""


class TryLater(msgspec.Struct, frozen=True, kw_only=True):
    """The backend cannot work now; the event stays as it was."""

    reason: str
    after_seconds: float | None = None
    """How long the server asked us to wait; None where it said nothing."""


class Cannot(msgspec.Struct, frozen=True, kw_only=True):
    """The backend worked and has no summary to give; `tokens_*` were spent all the same."""

    reason: str
    tokens_in: int = 0
    tokens_out: int = 0


Verdict: TypeAlias = Summary | TryLater | Cannot


class TokenBudget:
    """What a backend may still spend: asked before each call, paid after it, whatever came of the answer."""

    def __init__(self, left: int | None = None, *, refusal: str = "") -> None:
        """Hold `left` tokens (None: no bound); `refusal` says why none are left."""
        self._left = left
        self._refusal = refusal
        self.spent = 0

    @property
    def refusal(self) -> str | None:
        """Why no further call may be made; None while one may."""
        return None if self._left is None or self.spent < self._left else self._refusal

    def pay(self, tokens: int) -> None:
        self.spent += tokens


class Backend(Protocol):
    """Something that writes summaries."""

    @property
    def is_free(self) -> bool:
        """Whether asking costs neither money nor time worth saving: then nothing is too trivial to ask about."""

    @property
    def name(self) -> str:
        """What `summaries.model` shows: "extractive:1", "ollama:llama3.2:3b"."""

    @property
    def is_remote(self) -> bool:
        """Whether captured text leaves this machine."""

    def prompt_hash(self, item: Item) -> str:
        """Hash all that decides the text beside payload and model; never a time, an id, a fence or a batch place."""

    async def summarise(self, batch: Sequence[Item], budget: TokenBudget) -> list[Verdict]:
        """Give one verdict per item, in order; what `purse` does not pay for is for later.

        Raises nothing but cancellation.
        """


def cache_key(model: str, prompt_hash: str, input_hash: str) -> str:
    """Return the key of `summary_cache`, as the store's contract spells it."""
    return hashlib.sha256(f"{model}|{prompt_hash}|{input_hash}".encode()).hexdigest()
