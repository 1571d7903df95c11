"""A process of `siftd team serve` before a real PostgreSQL, as laptops and programs ask it."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import IO, Any

import msgspec
from postgres import TeamDatabase
from web_page import PATCHED, Response

from siftd.team.items import Forget, Put, content_hash, document_id
from siftd.team.protocol import Joined, Pushed, Role
from siftd.team_server.operator import as_owner, ensure_project, invite

TS = 1_764_000_000_000


class Service:
    """A running process."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, errors: IO[bytes]) -> None:
        self.process = process
        self.port = port
        self.tls: ssl.SSLContext | None = None
        self._errors = errors

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def log(self) -> str:
        """Return what it has logged until now."""
        self._errors.flush()
        return Path(self._errors.name).read_text(errors="replace")

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Return the answer. A struct is sent as JSON, bytes as they are."""
        said = {"host": self.host}
        if token is not None:
            said["authorization"] = f"Bearer {token}"
        data = body if isinstance(body, bytes | None) else msgspec.json.encode(body)
        if data is not None:
            said["content-type"] = "application/json"
        connection = self.connect()
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

    def connect(self) -> HTTPConnection:
        if self.tls is not None:
            return HTTPSConnection("localhost", self.port, timeout=60, context=self.tls)
        return HTTPConnection("127.0.0.1", self.port, timeout=60)


class Member:
    """A device of a person who has joined."""

    def __init__(self, service: Service, joined: Joined) -> None:
        self.service = service
        self.joined = joined
        self.token = joined.token
        self.project = joined.project.id

    @classmethod
    def of(cls, service: Service, answer: bytes) -> Member:
        """Return the member that a join has answered with."""
        return cls(service, msgspec.json.decode(answer, type=Joined))

    def ask(self, method: str, path: str, body: Any = None, **how: Any) -> Response:
        return self.service.ask(method, path, body, **({"token": self.token} | how))

    def get(self, path: str) -> Any:
        """Return what a route answers."""
        answer = self.ask("GET", path)
        assert answer.status == 200, (answer.status, answer.body)
        return answer.json

    def v1(self, path: str) -> str:
        return f"/api/v1/projects/{self.project}{path}"

    def api(self, path: str) -> str:
        return f"/api/projects/{self.project}{path}"

    def put(self, text: str, *, ref: str = "", rev: int = 1, **fields: Any) -> Put:
        """Make an item as a laptop does."""
        ref = ref or uuid.uuid4().hex
        source = fields.pop("source", "memory")
        made = Put(
            id=document_id(self.project, source, ref), rev=rev, hash="0" * 64, source=source, source_ref=ref,
            text=text, ts=TS, **fields,
        )  # fmt: skip
        return msgspec.structs.replace(made, hash=content_hash(made))

    def push(self, *items: Put | Forget) -> Pushed:
        answer = self.ask("POST", self.v1("/push"), {"epoch": self.joined.epoch, "items": list(items)})
        assert answer.status == 200, (answer.status, answer.body)
        return msgspec.json.decode(answer.body, type=Pushed)


def join(service: Service, database: TeamDatabase, person: str, project: str = "lab", role: Role = "writer") -> Member:
    """Invite somebody, and take the invitation up as one of their devices does."""
    with as_owner(database.operator) as connection:
        code = invite(connection, ensure_project(connection, project, "hash-384"), person, role).code
    said = {"invite": code, "device": f"{person}'s laptop", "store": uuid.uuid4()}
    answer = service.ask("POST", "/api/v1/join", said)
    assert answer.status == 200, (answer.status, answer.body)
    return Member.of(service, answer.body)


@contextmanager
def team_service(
    dsn: str,
    *options: str,
    patches: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Iterator[Service]:
    """Serve, and end it again."""
    program = ["-m", "siftd"] if patches is None else ["-c", PATCHED, json.dumps(patches)]
    with tempfile.NamedTemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-I", *program, "team", "serve", "--port", "0", *options],
            env={"PATH": os.environ["PATH"], "SIFTD_TEAM_DSN": dsn, **(environ or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        assert process.stdout is not None
        try:
            said = process.stdout.readline()
            assert said.startswith(b"{"), Path(errors.name).read_text()
            yield Service(process, json.loads(said)["port"], errors)
        finally:
            process.terminate()
            process.wait(timeout=30)
            process.stdout.close()
            print(Path(errors.name).read_text())


def run_team(*arguments: str, environ: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run `siftd team …` to its end."""
    return subprocess.run(
        [sys.executable, "-I", "-m", "siftd", "team", *arguments],
        env={"PATH": os.environ["PATH"], **(environ or {})}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
