"""What a client writes without msgspec is what the daemon's structs are on the wire."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from siftd.wire import asking, requests


@pytest.mark.parametrize("kind", [*requests.Request.__subclasses__(), requests.Filters], ids=lambda kind: kind.__name__)
def test_a_message_is_what_the_daemon_would_write_of_the_same_request(kind: Any) -> None:
    fields = {name: f"of {name}" for name in kind.__struct_fields__}
    assert getattr(asking, kind.__name__)(**fields) == json.loads(msgspec.json.encode(kind(**fields)))


def test_a_message_says_only_what_it_was_given() -> None:
    """What is left out has the daemon's default, whichever version it is of."""
    assert asking.message_of(asking.Search(query="x", filters=asking.Filters(as_of=3))) == {
        "kind": "search",
        "query": "x",
        "filters": {"asOf": 3},
    }


def test_only_requests_are_sent() -> None:
    with pytest.raises(TypeError):
        asking.message_of(requests.Info())
    with pytest.raises(AttributeError):
        _ = asking.find_all
