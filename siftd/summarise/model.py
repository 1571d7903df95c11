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

from siftd.summarise.answer import checked_text, is_latin, read_answer, read_answers
from siftd.summarise.batching import calls_of
from siftd.summarise.contract import MAX_SUMMARY_CHARS, Cannot, Item, Summary, TokenBudget, TryLater, Verdict
from siftd.summarise.errors import ModelRefused, ModelUnavailable
from siftd.summarise.extractive import NAME as EXTRACTIVE
from siftd.summarise.extractive import render
from siftd.summarise.extractive.text import SEEN, clip
from siftd.summarise.grounding import Source, unsupported_claims
from siftd.summarise.prompt import Prompt, prompt_for, prompt_for_all, prompt_hash

ANSWER_SECONDS = 60.0
"""How long one answer may take, loading of a local model included; after that the server is taken for stalled."""


TOKENS_MAX = 100_000_000
"""Arbitrary: above what one answer can cost. A column of the database holds no number that has thirty digits."""


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
        self.is_free = False

    def prompt_hash(self, item: Item) -> str:
        return prompt_hash(item, self._server.deciding)

    async def summarise(self, batch: Sequence[Item], budget: TokenBudget | None = None) -> list[Verdict]:
        """Ask call after call; what stops one for a reason outside its events stops the rest as well."""
        verdicts: list[Verdict] = []
        try:
            async with self._server.open() as conversation:
                for call in calls_of(batch):
                    asking = _Asking(conversation, budget or TokenBudget(), self._answer_seconds)
                    verdicts += [await asking.one(call[0])] if len(call) == 1 else await asking.all_of(call)
                    if isinstance(verdicts[-1], TryLater):
                        return verdicts + [verdicts[-1]] * (len(batch) - len(verdicts))
        except ModelUnavailable as outage:
            later = TryLater(reason=outage.message, after_seconds=outage.after_seconds)
            verdicts += [later] * (len(batch) - len(verdicts))
        except Exception as fault:  # noqa: BLE001  a named boundary: opening or closing failed in a way nobody foresaw
            later = TryLater(reason=f"the backend failed ({type(fault).__name__})")
            verdicts += [later] * (len(batch) - len(verdicts))
        return verdicts

    async def answer(self, prompt: Prompt, budget: TokenBudget) -> str:
        """Return what the model says to one request; empty where it was cut or the request refused.

        Raises ModelUnavailable, nothing else of its own.
        """
        try:
            async with self._server.open() as conversation:
                answer = await _Asking(conversation, budget, self._answer_seconds).answer(prompt)
        except ModelUnavailable:
            raise
        except ModelRefused:
            return ""
        except Exception as fault:  # noqa: BLE001  a named boundary: libraries raise what they like at a broken reply
            raise ModelUnavailable(f"the backend failed ({type(fault).__name__})") from None
        return "" if answer.is_cut else answer.text


class _Asking:
    """One call's questions: first for all of its items, then for each that the answer did not serve."""

    def __init__(self, conversation: Conversation, budget: TokenBudget, answer_seconds: float) -> None:
        self._conversation = conversation
        self._budget = budget
        self._answer_seconds = answer_seconds

    async def all_of(self, items: Sequence[Item]) -> list[Verdict]:
        """Ask for several in one request; whoever got no sound summary is asked for alone.

        An outage after the first answer costs only those that are not told yet.
        """
        written = await self._summarised_together(items)
        verdicts: list[Verdict] = []
        outage: ModelUnavailable | None = None
        for number, item in enumerate(items, 1):
            if number in written:
                verdicts.append(written[number])
            elif outage is None:
                try:
                    verdicts.append(await self.one(item))
                except ModelUnavailable as error:
                    outage = error
            if len(verdicts) < number:
                assert outage is not None
                verdicts.append(TryLater(reason=outage.message, after_seconds=outage.after_seconds))
        return verdicts

    async def one(self, item: Item) -> Verdict:
        spent = _Spent()
        try:
            return await self._checked(item, spent)
        except ModelRefused as refusal:
            return Cannot(reason=refusal.message, tokens_in=spent.tokens_in, tokens_out=spent.tokens_out)
        except ModelUnavailable:
            raise
        except Exception as fault:  # noqa: BLE001  a named boundary: libraries raise what they like at a broken reply
            reason = f"the reply could not be read ({type(fault).__name__})"
            return Cannot(reason=reason, tokens_in=spent.tokens_in, tokens_out=spent.tokens_out)

    async def _summarised_together(self, items: Sequence[Item]) -> dict[int, Summary]:
        """Return the sound summaries of one answer by the number of their item."""
        prompt = prompt_for_all(items)
        try:
            answer = await self.answer(prompt)
        except ModelUnavailable:
            raise
        except Exception:  # noqa: BLE001  refused, or a broken reply: each is asked for alone, and says why
            return {}
        shares = _shares(answer, len(items))
        written = {}
        for number, text in ({} if answer.is_cut else read_answers(answer.text)).items():
            if not 1 <= number <= len(items):
                continue
            item = items[number - 1]
            reading = checked_text(text, source_is_latin=is_latin(prompt.message))
            summary_text = clip(reading.text, MAX_SUMMARY_CHARS)
            if summary_text and not unsupported_claims(summary_text, Source.of(item)):
                tokens_in, tokens_out = shares[number - 1]
                written[number] = Summary(
                    text=summary_text,
                    confidence=_confidence(item, render(item).confidence),
                    tokens_in=tokens_in,
                    tokens_out=tokens_out,
                )
        return written

    async def _checked(self, item: Item, spent: _Spent) -> Summary:
        source = Source.of(item)
        text = await self._readable(prompt_for(item), spent)
        wrong = unsupported_claims(text, source)
        if wrong:
            text = await self._readable(prompt_for(item, unsupported=wrong), spent)
            wrong = unsupported_claims(text, source)
        own_words = render(item)
        if wrong:
            return spent.summary(own_words.text, own_words.confidence, model=EXTRACTIVE)
        return spent.summary(text, _confidence(item, own_words.confidence))

    async def _readable(self, prompt: Prompt, spent: _Spent) -> str:
        """Ask, and once more when the answer is no summary; ModelRefused when the second is none either."""
        problem = ""
        for _ in range(2):
            answer = await self.answer(prompt)
            spent.add(answer)
            if answer.is_cut:
                problem = "the model stopped in the middle of its answer"
                continue
            reading = read_answer(answer.text, source_is_latin=is_latin(prompt.message))
            if reading.text:
                return clip(reading.text, MAX_SUMMARY_CHARS)
            problem = reading.problem
        raise ModelRefused(problem)

    async def answer(self, prompt: Prompt) -> Answer:
        """Ask once, within the purse and the deadline."""
        if (refusal := self._budget.refusal) is not None:
            raise ModelUnavailable(refusal)
        try:
            with anyio.fail_after(self._answer_seconds):
                answer = await self._conversation.ask(prompt)
        except TimeoutError:
            raise ModelUnavailable(f"no answer within {self._answer_seconds:g} s") from None
        answer = msgspec.structs.replace(
            answer, tokens_in=_counted(answer.tokens_in), tokens_out=_counted(answer.tokens_out)
        )
        self._budget.pay(answer.tokens_in + answer.tokens_out)
        return answer


def _counted(tokens: int) -> int:
    """Return what a server says that it counted, as far as that can be."""
    return min(max(0, tokens), TOKENS_MAX)


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


def _shares(answer: Answer, count: int) -> list[tuple[int, int]]:
    """Divide what an answer cost among the items it was for, to the token."""
    return [
        tuple(tokens // count + (place < tokens % count) for tokens in (answer.tokens_in, answer.tokens_out))  # type: ignore[misc]
        for place in range(count)
    ]


def _confidence(item: Item, understood: float) -> float:
    """A checked text about a known outcome is worth what the event shows; about an unknown one a little less."""
    return SEEN if item.outcome is not None else max(0.7, understood)
