"""A process of `mem web` over a throw-away home, as browsers and programs ask it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from daemons import Place
from wsproto import WSConnection
from wsproto.connection import ConnectionType
from wsproto.events import AcceptConnection, CloseConnection, Ping, Request, TextMessage

PATCHED = """
import importlib, json, sys
for name, value in json.loads(sys.argv[1]).items():
    module, _, constant = name.rpartition(".")
    assert hasattr(importlib.import_module(module), constant), name
    setattr(importlib.import_module(module), constant, value)
from siftd.__main__ import main
sys.exit(main(sys.argv[2:]))
"""
"""Runs the process with other values of named constants."""


@dataclass(frozen=True)
class Response:
    """One answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """Why it was refused."""
        return str(self.json["error"]["code"])


class Page:
    """A running process."""

    def __init__(self, place: Place, process: subprocess.Popen[bytes], port: int) -> None:
        self.place = place
        self.process = process
        self.port = port
        self.token = Path(place.paths.home.web_token).read_text()
        self.key = place.paths.key

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = "",
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Return the answer; `token` is the program's unless another is given, or None for none."""
        said = {"host": self.host}
        if token is not None:
            said["authorization"] = f"Bearer {token or self.token}"
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        if data is not None:
            said["content-type"] = "application/json"
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in (said | dict(headers or {})).items():
                connection.putheader(name, value)
            if data is not None:
                connection.putheader("content-length", str(len(data)))
            connection.endheaders(data)
            response = connection.getresponse()
            return Response(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def get(self, path: str, **how: Any) -> Any:
        """Return what a route of the project answers."""
        answer = self.ask("GET", f"/api/projects/{self.key}{path}", **how)
        assert answer.status == 200, (answer.status, answer.body)
        return answer.json

    def post(self, path: str, body: Any = None, **how: Any) -> Response:
        return self.ask("POST", f"/api/projects/{self.key}{path}", body, **how)

    def make_code(self) -> str:
        return str(self.ask("POST", "/api/codes").json["code"])

    def log_in(self, code: str | None = None, **headers: str) -> Response:
        """Give a code as the page's own form does."""
        said = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"} | headers
        return self.ask("POST", "/login", f"code={code or self.make_code()}".encode(), token=None, headers=said)

    def person(self) -> str:
        """Return the token of a page that is logged in."""
        return str(self.log_in().json["token"])


class EventStream:
    """A page that listens."""

    def __init__(self, page: Page, last: str = "", key: str = "") -> None:
        self._connection = HTTPConnection("127.0.0.1", page.port, timeout=60)
        headers = {"authorization": f"Bearer {page.token}", "accept": "text/event-stream"}
        headers |= {"last-event-id": last} if last else {}
        self._connection.request("GET", f"/api/projects/{key or page.key}/events", headers=headers)
        self.response = self._connection.getresponse()
        self.last = last

    def __enter__(self) -> EventStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.response.close()
        self._connection.close()

    def event(self) -> tuple[str, dict[str, Any]] | None:
        """Return the next event's kind and data; None once the stream has ended."""
        fields: dict[str, str] = {}
        while line := self.response.readline().decode():
            name, _, value = line.rstrip("\n").partition(": ")
            if not name and not value:
                if "event" in fields:
                    self.last = fields.get("id", self.last)
                    return fields["event"], json.loads(fields["data"])
                fields = {}
            elif name:
                fields[name] = value
        return None

    def until(self, kind: str) -> dict[str, Any]:
        """Return the data of the next event of a kind."""
        while event := self.event():
            if event[0] == kind:
                return event[1]
        raise AssertionError(f"the stream has ended before {kind}")


class Socket:
    """A program with a websocket."""

    def __init__(
        self, page: Page, query: str, protocols: Sequence[str] = (), headers: Mapping[str, str] | None = None
    ) -> None:
        self._socket = socket.create_connection(("127.0.0.1", page.port), timeout=60)
        self._wire = WSConnection(ConnectionType.CLIENT)
        said = {"origin": f"http://{page.host}"} | dict(headers or {})
        host = said.pop("host", page.host)
        extra = [(name.encode(), value.encode()) for name, value in said.items()]
        request = Request(host=host, target=f"/ws{query}", subprotocols=list(protocols), extra_headers=extra)
        self._socket.sendall(self._wire.send(request))
        self._events = self._read()
        self.opening = next(self._events)

    def __enter__(self) -> Socket:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    @property
    def is_open(self) -> bool:
        return isinstance(self.opening, AcceptConnection)

    def _read(self) -> Iterator[Any]:
        while True:
            data = self._socket.recv(65_536)
            self._wire.receive_data(data or None)
            for event in self._wire.events():
                if isinstance(event, Ping):
                    self._socket.sendall(self._wire.send(event.response()))
                else:
                    yield event
            if not data:
                return

    def message(self) -> dict[str, Any] | int:
        """Return the next message, or the code with which the socket was closed."""
        text = ""
        for event in self._events:
            if isinstance(event, CloseConnection):
                return int(event.code)
            if isinstance(event, TextMessage):
                text += event.data
                if event.message_finished:
                    found: dict[str, Any] = json.loads(text)
                    return found
        return 0


@contextmanager
def serving(place: Place, port: int = 0, *, patches: Mapping[str, Any] | None = None) -> Iterator[Page]:
    """Serve the page of a home, and end it again."""
    program = ["-m", "siftd"] if patches is None else ["-c", PATCHED, json.dumps(patches)]
    process = subprocess.Popen(
        [sys.executable, "-I", *program, "web", "--port", str(port)],
        env=place.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        said = process.stdout.readline()
        assert said.startswith(b"{"), process.stderr.read()
        answer = json.loads(said)
        assert "port" in answer, answer
        yield Page(place, process, answer["port"])
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=30)
        print(errors.decode())


def free_port() -> int:
    with socket.socket() as trying:
        trying.bind(("127.0.0.1", 0))
        return int(trying.getsockname()[1])
