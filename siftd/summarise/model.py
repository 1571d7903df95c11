"""What every backend with a model does alike: ask, read, check against the event, repair once, else fall back.

A `Server` knows one protocol. It is opened for a batch and closed after it, so that nothing is held while there is
nothing to do; a library is imported when first opened, off the event loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import anyio
import msgspec

from siftd.summarise.answer import is_latin, read_answer
from siftd.summarise.contract import MAX_SUMMARY_CHARS, Cannot, Item, Summary, TryLater, Verdict
from siftd.summarise.errors import ModelRefused, ModelUnavailable
from siftd.summarise.extractive import NAME as EXTRACTIVE
from siftd.summarise.extractive import render
from siftd.summarise.extractive.text import SEEN, clip
from siftd.summarise.prompt import Prompt, prompt_for, prompt_hash
from siftd.summarise.truth import Source, unsupported_claims

ANSWER_SECONDS = 60.0
"""How long one answer may take, loading of a local model included; after that the server is taken for stalled."""


class Answer(msgspec.Struct, frozen=True):
    """What a model said and what it cost."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    is_cut: bool = False
    """Whether the model stopped at its limit: half an answer is none."""


class Conversation(Protocol):
    """An open connection to a model. Raises ModelUnavailable or ModelRefused, nothing else of its own."""

    async def ask(self, prompt: Prompt) -> Answer: ...


class Server(Protocol):
    """One protocol, one model."""

    name: str
    is_remote: bool
    deciding: str
    """What decides its answers beside name and prompt: a command line; else empty."""

    def open(self) -> AbstractAsyncContextManager[Conversation]: ...


class ModelBackend:
    """A backend over a server."""

    def __init__(self, server: Server, *, answer_seconds: float = ANSWER_SECONDS) -> None:
        self._server = server
        self._answer_seconds = answer_seconds
        self.name = server.name
        self.is_remote = server.is_remote

    def prompt_hash(self, item: Item) -> str:
        return prompt_hash(item, self._server.deciding)

    async def summarise(self, batch: Sequence[Item]) -> list[Verdict]:
        """Ask for one item after the other; what stops one for a reason outside it stops the rest as well."""
        verdicts: list[Verdict] = []
        try:
            async with self._server.open() as conversation:
                for item in batch:
                    verdicts.append(await self._one(conversation, item))  # noqa: PERF401  what is done is kept
        except ModelUnavailable as outage:
            later = TryLater(reason=outage.message, after_seconds=outage.after_seconds)
            verdicts += [later] * (len(batch) - len(verdicts))
        except Exception as fault:  # noqa: BLE001  a named boundary: opening or closing failed in a way nobody foresaw
            later = TryLater(reason=f"the backend failed ({type(fault).__name__})")
            verdicts += [later] * (len(batch) - len(verdicts))
        return verdicts

    async def _one(self, conversation: Conversation, item: Item) -> Verdict:
        spent = _Spent()
        try:
            return await self._checked(conversation, item, spent)
        except ModelRefused as refusal:
            return Cannot(reason=refusal.message, tokens_in=spent.tokens_in, tokens_out=spent.tokens_out)
        except ModelUnavailable:
            raise
        except Exception as fault:  # noqa: BLE001  a named boundary: libraries raise what they like at a broken reply
            reason = f"the reply could not be read ({type(fault).__name__})"
            return Cannot(reason=reason, tokens_in=spent.tokens_in, tokens_out=spent.tokens_out)

    async def _checked(self, conversation: Conversation, item: Item, spent: _Spent) -> Summary:
        source = Source.of(item)
        text = await self._readable(conversation, prompt_for(item), spent)
        wrong = unsupported_claims(text, source)
        if wrong:
            text = await self._readable(conversation, prompt_for(item, unsupported=wrong), spent)
            wrong = unsupported_claims(text, source)
        own_words = render(item)
        if wrong:
            return spent.summary(own_words.text, own_words.confidence, model=EXTRACTIVE)
        return spent.summary(text, _confidence(item, own_words.confidence))

    async def _readable(self, conversation: Conversation, prompt: Prompt, spent: _Spent) -> str:
        """Ask, and once more when the answer is no summary; ModelRefused when the second is none either."""
        problem = ""
        for _ in range(2):
            answer = await self._answer(conversation, prompt)
            spent.add(answer)
            if answer.is_cut:
                problem = "the model stopped in the middle of its answer"
                continue
            reading = read_answer(answer.text, source_is_latin=is_latin(prompt.message))
            if reading.text:
                return clip(reading.text, MAX_SUMMARY_CHARS)
            problem = reading.problem
        raise ModelRefused(problem)

    async def _answer(self, conversation: Conversation, prompt: Prompt) -> Answer:
        try:
            with anyio.fail_after(self._answer_seconds):
                return await conversation.ask(prompt)
        except TimeoutError:
            raise ModelUnavailable(f"no answer within {self._answer_seconds:g} s") from None


class _Spent:
    """What an item has cost so far, over all its requests."""

    def __init__(self) -> None:
        self.tokens_in = 0
        self.tokens_out = 0

    def add(self, answer: Answer) -> None:
        self.tokens_in += answer.tokens_in
        self.tokens_out += answer.tokens_out

    def summary(self, text: str, confidence: float, *, model: str | None = None) -> Summary:
        return Summary(
            text=text, confidence=confidence, tokens_in=self.tokens_in, tokens_out=self.tokens_out, model=model
        )


def _confidence(item: Item, understood: float) -> float:
    """A checked text about a known outcome is worth what the event shows; about an unknown one a little less."""
    return SEEN if item.outcome is not None else max(0.7, understood)
