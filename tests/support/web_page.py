"""A process of `mem web` over a throw-away home, as browsers and programs ask it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from daemons import Place

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
