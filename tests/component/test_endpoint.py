"""The socket's path: whoever finds it is let in, and nothing of it outlives its daemon."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemons import Place

from siftd.daemon import endpoint
from siftd.daemon.endpoint import Endpoint
from siftd.errors import HomeUnusable
from siftd.workspace.home import ensure_workspace


@pytest.fixture
def place() -> Iterator[Place]:
    made = Place()
    ensure_workspace(made.paths)
    yield made
    made.end()


def test_the_name_is_there_only_once_a_client_is_let_in(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between bind and listen a socket refuses, which a hook takes for a daemon that is dead."""
    seen: list[bool] = []

    class Watched(socket.socket):
        def listen(self, *backlog: int) -> None:
            seen.append(Path(place.paths.socket).exists())
            super().listen(*backlog)

    monkeypatch.setattr(endpoint.socket, "socket", Watched)
    serving = Endpoint(place.paths)
    monkeypatch.undo()
    try:
        assert seen == [False]
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(place.paths.socket)
    finally:
        serving.close()
    assert list(Path(place.paths.socket).parent.glob("*.sock*")) == []


def test_a_daemon_that_died_before_it_listened_leaves_no_name_for_good(place: Place) -> None:
    unnamed = place.paths.socket + endpoint.UNNAMED
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(unnamed)
    Endpoint(place.paths).close()
    assert list(Path(place.paths.socket).parent.glob("*.sock*")) == []


def test_a_strangers_file_under_the_name_before_the_name_is_refused_and_left(place: Place) -> None:
    stranger = Path(place.paths.socket + endpoint.UNNAMED)
    stranger.write_text("not ours")
    with pytest.raises(HomeUnusable, match="is not a socket of ours"):
        Endpoint(place.paths)
    assert stranger.read_text() == "not ours"
    stranger.unlink()
