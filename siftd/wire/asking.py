"""The requests as a client writes them: `client.ask(Search(query="…"))` returns a `SearchAnswer`.

For mypy these are the daemon's own structs (`siftd.wire.requests`), so that a wrong field, or a key that no answer has,
is found before anything runs. At run time each is a function that returns the message as plain JSON: loading msgspec
for the structs would cost `mem search` tens of milliseconds. A test holds the two against each other.
"""

from __future__ import annotations

from siftd.wire.naming import field_name, kind_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from siftd.wire.requests import *  # noqa: F403 - whatever requests and answers there are
    from siftd.wire.requests import Request

    A = TypeVar("A")
else:

    def __getattr__(name):
        if not name[:1].isupper():
            raise AttributeError(name)
        head = {} if name == "Filters" else {"kind": kind_name(name)}

        def write(**fields):
            return head | {field_name(each): value for each, value in fields.items()}

        return write


def message_of(request: Request[Any]) -> dict[str, Any]:
    """Return a request's message: what a request is at run time."""
    message: Any = request
    if not isinstance(message, dict):
        raise TypeError("requests are sent as siftd.wire.asking writes them")
    return message


def elsewhere(request: Request[A]) -> Request[A]:
    """Return a request as it is about the memories for every project (`siftd.wire.global_routing`)."""
    return request_of(message_of(request) | {"project": False})


def request_of(message: dict[str, Any]) -> Request[Any]:
    """Return the request that a message is: one that was made over on its way."""
    request: Any = message
    return request  # type: ignore[no-any-return]
