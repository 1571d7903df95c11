"""How a handler says which request it answers, so that a new request is its struct and one method."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeVar

from siftd.wire.requests import Request

Method = TypeVar("Method", bound=Callable[..., Awaitable[dict[str, Any]]])
_MARK = "_answers"


class Handler(NamedTuple):
    """What answers one kind of request: with the fields of the answer, or by raising SiftdError to refuse."""

    method: Callable[..., Awaitable[dict[str, Any]]]
    takes_answer: bool
    """Whether it also takes the connection's `Answer`: to send progress before the end, or to see whether anybody still
    waits."""


def answers(request: type[Request], *, takes_answer: bool = False) -> Callable[[Method], Method]:
    """Mark a method as the one that answers this kind of request."""

    def mark(method: Method) -> Method:
        setattr(method, _MARK, (request, takes_answer))
        return method

    return mark


def handlers_of(group: object) -> dict[type[Request], Handler]:
    """Return the handlers of an object, by the kind of request that each answers."""
    marked = ((name, getattr(method, _MARK, None)) for name, method in vars(type(group)).items())
    return {found[0]: Handler(getattr(group, name), found[1]) for name, found in marked if found is not None}
