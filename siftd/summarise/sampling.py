"""A model behind an attached client that offers sampling: an injected callable, wherever it comes from.

Where the words go from there nobody here can know: it counts as remote and is bound by the daily cap.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

from siftd.summarise.errors import ModelUnavailable
from siftd.summarise.model import Answer, Conversation
from siftd.summarise.prompt import CHARS_PER_TOKEN, Prompt

Sampler: TypeAlias = Callable[[str, str, int], Awaitable[str]]
"""(rules, message, most tokens of the answer) -> the answer. Raises ConnectionError or TimeoutError when nobody is
there to be asked."""


class SamplingServer:
    """Asks the sampler that is attached when it is opened."""

    is_remote = True
    deciding = ""

    def __init__(self, model: str, find_sampler: Callable[[], Sampler | None]) -> None:
        self.name = f"sampling:{model}" if model else "sampling"
        self._find_sampler = find_sampler

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Conversation]:
        sampler = self._find_sampler()
        if sampler is None:
            raise ModelUnavailable("no attached client offers sampling: start one, or name another in memory.backend")
        yield _Sampling(sampler)


class _Sampling:
    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    async def ask(self, prompt: Prompt) -> Answer:
        try:
            said = await self._sampler(prompt.rules, prompt.message, prompt.answer_tokens)
        except (ConnectionError, TimeoutError) as error:
            raise ModelUnavailable(f"the client that samples does not answer ({type(error).__name__})") from None
        tokens_in = -(-(len(prompt.rules) + len(prompt.message)) // CHARS_PER_TOKEN)
        return Answer(said, tokens_in=tokens_in, tokens_out=-(-len(said) // CHARS_PER_TOKEN))
