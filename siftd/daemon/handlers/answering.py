"""How a handler says which request it answers, so that a new request is its struct and one method."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from siftd.wire.requests import Request

A = TypeVar("A")
Method = TypeVar("Method", bound=Callable[..., Any])
_MARK = "_answers"


class Handler(NamedTuple):
    """What answers one kind of request: with the answer that stands beside it, or by raising SiftdError to refuse."""

    method: Callable[..., Awaitable[Mapping[str, object]]]
    takes_answer: bool
    """Whether it also takes the connection's `Answer`: to send progress before the end, or to see whether anybody still
    waits."""


def answers(request: type[Request[A]]) -> Callable[[Callable[[Any, Any], Awaitable[A]]], Callable[..., Awaitable[A]]]:
    """Mark a method as the one that answers this kind of request."""
    return _mark(request, takes_answer=False)


def answers_at_length(
    request: type[Request[A]],
) -> Callable[[Callable[[Any, Any, Any], Awaitable[A]]], Callable[..., Awaitable[A]]]:
    """Mark a method as the one that answers this kind of request, and takes the connection's `Answer` too."""
    return _mark(request, takes_answer=True)


def _mark(request: type[Request[Any]], *, takes_answer: bool) -> Callable[[Method], Method]:
    def mark(method: Method) -> Method:
        setattr(method, _MARK, (request, takes_answer))
        return method

    return mark


def handlers_of(group: object) -> dict[type[Request[Any]], Handler]:
    """Return the handlers of an object, by the kind of request that each answers."""
    marked = ((name, getattr(method, _MARK, None)) for name, method in vars(type(group)).items())
    return {found[0]: Handler(getattr(group, name), found[1]) for name, found in marked if found is not None}
