"""The client against a real socket: whatever stands at the other end, the caller learns which reaction fits."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from siftd.errors import DaemonTimedOut, DaemonUnreachable, ProtocolError, RequestRefused
from siftd.wire.client import ADDRESS_BYTES, connect
from siftd.wire.frames import FrameBuffer, encode_frame, encode_json
from siftd.workspace.paths import Home, WorkspacePaths

Serve = Callable[[Callable[[dict[str, object]], bytes]], WorkspacePaths]


@pytest.fixture
def paths(tmp_path: Path) -> WorkspacePaths:
    found = Home(str(tmp_path)).for_workspace("0123456789abcdef")
    Path(found.home.run).mkdir(parents=True)
    return found


@pytest.fixture
def serve(paths: WorkspacePaths) -> Iterator[Serve]:
    """Answer every request of one client with the bytes that a function makes; the connection then stays open until
    the client closes it, unless the bytes are empty."""
    threads: list[threading.Thread] = []
    listeners: list[socket.socket] = []

    def start(answer: Callable[[dict[str, object]], bytes]) -> WorkspacePaths:
        listener = socket.socket(socket.AF_UNIX)
        back = Path.cwd()
        os.chdir(paths.home.run)
        listener.bind(Path(paths.socket).name)
        os.chdir(back)
        listener.listen(1)
        listeners.append(listener)

        def work() -> None:
            conn, _ = listener.accept()
            buffer = FrameBuffer()
            with conn:
                while data := conn.recv(65_536):
                    for message in buffer.feed(data):
                        reply = answer(json.loads(message))
                        if not reply:
                            return
                        conn.sendall(reply)

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        return paths

    yield start
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()
    for listener in listeners:
        listener.close()


def test_answer_comes_without_its_ok(serve: Serve) -> None:
    paths = serve(lambda message: encode_json({"ok": True, "asked": message["kind"]}))
    with connect(paths) as client:
        assert client.request({"kind": "hello"}, timeout=5) == {"asked": "hello"}
        assert client.request({"kind": "info"}, timeout=5) == {"asked": "info"}


def test_progress_is_told_before_the_answer(serve: Serve) -> None:
    frames = [
        {"progress": {"done": 1, "total": 2}},
        {"progress": {"done": 2, "total": 2}},
        {"ok": True, "processed": 2},
    ]
    told: list[object] = []
    with connect(serve(lambda _: b"".join(map(encode_json, frames)))) as client:
        assert client.request({"kind": "drain"}, timeout=5, on_progress=told.append) == {"processed": 2}
    assert told == [{"done": 1, "total": 2}, {"done": 2, "total": 2}]


def test_progress_nobody_asked_for_is_passed_over(serve: Serve) -> None:
    frames = encode_json({"progress": {"done": 1, "total": 2}}) + encode_json({"ok": True})
    with connect(serve(lambda _: frames)) as client:
        assert client.request({"kind": "drain"}, timeout=5) == {}


def test_refusal_brings_the_daemons_own_words(serve: Serve) -> None:
    refusal = {"ok": False, "retry": True, "error": {"code": "disk_full", "message": "no space", "hint": "make room"}}
    with connect(serve(lambda _: encode_json(refusal))) as client, pytest.raises(RequestRefused) as caught:
        client.request({"kind": "drain"}, timeout=5)
    assert (caught.value.code, caught.value.message, caught.value.hint) == ("disk_full", "no space", "make room")
    assert caught.value.retry


def test_silence_is_a_daemon_that_hangs(serve: Serve) -> None:
    half = encode_json({"ok": True})[:-3]
    with connect(serve(lambda _: half)) as client, pytest.raises(DaemonTimedOut):
        client.request({"kind": "info"}, timeout=0.05)


def test_end_of_stream_is_no_answer(serve: Serve) -> None:
    with connect(serve(lambda _: b"")) as client, pytest.raises(DaemonUnreachable, match="ended before"):
        client.request({"kind": "info"}, timeout=5)


@pytest.mark.parametrize(
    "reply",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", bytes(8), *map(encode_frame, (b"nonsense", b"[]", b"{}", b"3"))],
    ids=["http", "zeros", "not-json", "list", "no-ok", "number"],
)
def test_a_stranger_on_the_socket_is_told_from_a_daemon(serve: Serve, reply: bytes) -> None:
    with connect(serve(lambda _: reply)) as client, pytest.raises(ProtocolError):
        client.request({"kind": "info"}, timeout=5)


def test_nobody_listens_where_there_is_no_socket(paths: WorkspacePaths) -> None:
    with pytest.raises(DaemonUnreachable, match="no daemon runs"):
        connect(paths)


def test_nobody_listens_on_a_stale_socket(paths: WorkspacePaths) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        os.chdir(paths.home.run)
        dead.bind(Path(paths.socket).name)
    with pytest.raises(DaemonUnreachable):
        connect(paths)


def test_a_full_backlog_is_a_daemon_that_hangs(paths: WorkspacePaths) -> None:
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as waiting:
        os.chdir(paths.home.run)
        listener.bind(Path(paths.socket).name)
        listener.listen(0)
        waiting.connect(Path(paths.socket).name)
        with pytest.raises(DaemonTimedOut):
            connect(paths, timeout=0.05)


class TestDeepHome:
    """A path too long for a unix address is reached from within its folder."""

    @pytest.fixture
    def paths(self, tmp_path: Path) -> WorkspacePaths:
        found = Home(str(tmp_path / "deep" / ("x" * ADDRESS_BYTES))).for_workspace("0123456789abcdef")
        Path(found.home.run).mkdir(parents=True)
        return found

    def test_is_reached_and_the_current_folder_stays(self, serve: Serve) -> None:
        paths, before = serve(lambda _: encode_json({"ok": True})), Path.cwd()
        with connect(paths) as client:
            assert client.request({"kind": "hello"}, timeout=5) == {}
        assert Path.cwd() == before

    def test_without_a_daemon_is_told_as_any_other(self, paths: WorkspacePaths) -> None:
        before = Path.cwd()
        with pytest.raises(DaemonUnreachable):
            connect(paths)
        assert Path.cwd() == before


@pytest.fixture(autouse=True)
def _stay_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
