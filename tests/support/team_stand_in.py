"""A tiny server that speaks `siftd.team.protocol` from memory, on loopback, and does as a test tells it.

It keeps the feed as the real one does: one order for puts and tombstones, a later rev wins, what was forgotten is
refused for ever. Real servers are tried in `tests/integration/team`.
"""

from __future__ import annotations

import re
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from siftd.team.items import Forget, Put, Source
from siftd.team.protocol import (
    Changed,
    Changes,
    Device,
    Gone,
    Hello,
    Ignored,
    Join,
    Joined,
    Leave,
    Left,
    Member,
    Members,
    Person,
    Project,
    Push,
    Pushed,
    Renew,
)
from siftd.team.searching import Hit, SearchFound

PROJECT = uuid.UUID("10000000-0000-4000-8000-000000000001")
ANA = Person(id=uuid.UUID("20000000-0000-4000-8000-00000000000a"), name="Ana")
BEN = Person(id=uuid.UUID("20000000-0000-4000-8000-00000000000b"), name="Ben")
INVITES = {"ana" * 20: ANA, "ben" * 20: BEN}


class Refusal(Exception):
    def __init__(self, status: int, message: str = "no", retry_after: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class TeamStandIn:
    """The server's state, and what it is to do wrong."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.epoch = uuid.uuid4()
        self.head = 0
        self.items: dict[uuid.UUID, Changed] = {}
        self.gone: dict[uuid.UUID, Gone] = {}
        self.tokens: dict[str, tuple[Person, uuid.UUID]] = {}
        self.devices: dict[uuid.UUID, tuple[str, Person, int]] = {}
        self.refuse: dict[str, Refusal] = {}
        """By the last part of a path, what it is answered with."""
        self.raw: dict[str, bytes] = {}
        """By the last part of a path, the bytes that are answered."""
        self.ignore: dict[str, str] = {}
        """By a text, why an item that holds it is not taken."""
        self.sources: list[Source] = []
        """Those that are switched on."""
        self.versions = (1, 1)
        self.asked: list[str] = []
        self.pushed: list[Push] = []
        self.questions: list[str] = []
        """What was searched for here."""
        self.is_hung = False
        self.held: dict[str, threading.Event] = {}
        """By the last part of a path, what an answer that is made waits for."""
        self.holding: set[str] = set()
        """What is held now."""
        self.url = ""

    def texts(self) -> dict[str, str]:
        """Return what is stored, by its text, with the name of who told it."""
        return {each.item.text: each.author.name for each in self.items.values() if each.item.text}

    def publish(self, *puts: Put, author: Person = BEN) -> None:
        """Have another member tell something."""
        with self.changed:
            for put in puts:
                self.head += 1
                self.items[put.id] = Changed(seq=self.head, item=put, author=author, device=uuid.uuid4())
            self.changed.notify_all()

    def forget(self, item: uuid.UUID) -> None:
        with self.changed:
            self._forget(item)
            self.changed.notify_all()

    def restore(self, *, without: set[uuid.UUID], unforgetting: dict[uuid.UUID, Changed]) -> None:
        """Be another database: an older backup."""
        with self.changed:
            self.epoch = uuid.uuid4()
            self.items = {key: each for key, each in self.items.items() if key not in without} | unforgetting
            self.gone = {key: each for key, each in self.gone.items() if key not in unforgetting}
            self.changed.notify_all()

    # What it answers

    def answer(self, method: str, path: str, body: bytes, token: str | None) -> Any:
        parts = urlsplit(path)
        name = parts.path.rpartition("/")[2]
        self.asked.append(name)
        if name in self.refuse:
            raise self.refuse[name]
        if name == "hello":
            return Hello(version_min=self.versions[0], version_max=self.versions[1], server="9.9")
        if name == "join":
            return self._join(msgspec.json.decode(body, type=Join))
        if token not in self.tokens:
            raise Refusal(401)
        if method == "GET" and parts.path == f"/api/projects/{PROJECT}/memory/search":
            return self._search(parse_qs(parts.query))
        if not re.fullmatch(rf"/api/v1/projects/{PROJECT}/\w+", parts.path):
            raise Refusal(404)
        person, device = self.tokens[token]
        with self.changed:
            match method, name:
                case "POST", "push":
                    return self._push(msgspec.json.decode(body, type=Push), person, device)
                case "GET", "changes":
                    return self._changes(parse_qs(parts.query), person, device)
                case "GET", "members":
                    return self.members()
                case "POST", "device":
                    renew = msgspec.json.decode(body, type=Renew)
                    return self._joined(person, renew.device)
                case "POST", "leave":
                    return self._leave(msgspec.json.decode(body, type=Leave), person, token)
        raise Refusal(404)

    def _join(self, join: Join) -> Joined:
        person = INVITES.get(join.invite)
        if person is None:
            raise Refusal(403)
        return self._joined(person, join.device)

    def _joined(self, person: Person, name: str) -> Joined:
        device, token = uuid.uuid4(), uuid.uuid4().hex
        self.tokens[token] = person, device
        self.devices[device] = name, person, 0
        return Joined(
            token=token, device=device, person=person, role="writer", project=self._project(), epoch=self.epoch
        )

    def _project(self) -> Project:
        return Project(id=PROJECT, name="okapi", embedder="blend-384", head=self.head, sources=self.sources)

    def _push(self, push: Push, person: Person, device: uuid.UUID) -> Pushed:
        self.pushed.append(push)
        if push.epoch != self.epoch:
            raise Refusal(409)
        ignored: list[Ignored] = []
        put = forgotten = 0
        for item in push.items:
            if isinstance(item, Forget):
                self._forget(item.id)
                forgotten += 1
                continue
            known = self.items.get(item.id)
            why = next((why for text, why in self.ignore.items() if text in item.text), None)
            if why is None and item.id in self.gone:
                why = "forgotten"
            if why is None and known is not None and known.author != person:
                why = "not yours"
            if why is None and known is not None and known.item.rev >= item.rev:
                if known.item.rev == item.rev and known.item.hash == item.hash:
                    put += 1
                    continue
                why = "older"
            if why is not None:
                rev, said = (known.item.rev, known.item.hash) if known is not None else (None, None)
                ignored.append(Ignored(id=item.id, why=why, rev=rev, hash=said))  # type: ignore[arg-type]
                continue
            self.head += 1
            self.items[item.id] = Changed(seq=self.head, item=item, author=person, device=device)
            put += 1
        self.changed.notify_all()
        return Pushed(head=self.head, put=put, forgotten=forgotten, ignored=ignored)

    def _forget(self, item: uuid.UUID) -> None:
        self.head += 1
        self.items.pop(item, None)
        self.gone[item] = Gone(seq=self.head, id=item, at=1)

    def _changes(self, query: dict[str, list[str]], person: Person, device: uuid.UUID) -> Changes:
        after, limit = int(query["after"][0]), int(query["limit"][0])
        if "applied" in query:
            name, owner, _ = self.devices[device]
            self.devices[device] = name, owner, int(query["applied"][0])
        wait = min(int(query["wait"][0]), 1)
        if self.head <= after and wait:
            self.changed.wait(wait)
        seen: list[Changed | Gone] = [
            each
            for each in self.items.values()
            if each.seq > after and (each.item.visibility == "project" or each.author == person)
        ]
        seen += [gone for gone in self.gone.values() if gone.seq > after]
        page = sorted(seen, key=lambda each: each.seq)[:limit]
        is_whole = len(page) == len(seen)
        cursor = max(self.head, after if self.head >= after else 0) if is_whole else page[-1].seq
        return Changes(epoch=self.epoch, head=self.head, cursor=cursor, changes=page)

    def members(self) -> Members:
        people = {person.id: person for person, _ in self.tokens.values()}
        return Members(
            project=self._project(),
            members=[Member(person=each, role="writer") for each in people.values()],
            devices=[
                Device(id=each, name=name, person=person, seq=seq, seen_at=1)
                for each, (name, person, seq) in self.devices.items()
            ],
            used={"memory": len(self.items)},
        )

    def _search(self, query: dict[str, list[str]]) -> SearchFound:
        """Find what holds a word of the question, as it came."""
        self.questions.append(query["q"][0])
        words = query["q"][0].lower().split()
        sources = query["source"][0].split(",") if "source" in query else None
        hits = [
            Hit(
                item=each.item, author=each.author, device=each.device, seq=each.seq, score=1.0, ranks={"keyword": rank}
            )
            for rank, each in enumerate(self.items.values(), start=1)
            if any(word in each.item.text.lower() for word in words)
            and (sources is None or each.item.source in sources)
        ]
        return SearchFound(hits=hits, strategy="keyword", degraded=["no vectors"], head=self.head)

    def _leave(self, leave: Leave, person: Person, token: str) -> Left:
        _, device = self.tokens.pop(token)
        del self.devices[device]
        gone = [
            key
            for key, each in self.items.items()
            if each.author == person and (leave.forget_shared or each.item.visibility == "private")
        ]
        for key in gone:
            self._forget(key)
        self.changed.notify_all()
        return Left(forgotten=len(gone))


@contextmanager
def team_server() -> Iterator[TeamStandIn]:
    """Serve on a free port of loopback until the end of the block."""
    state = TeamStandIn()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer("GET", b"")

        def do_POST(self) -> None:
            self._answer("POST", self.rfile.read(int(self.headers["Content-Length"])))

        def _answer(self, method: str, body: bytes) -> None:
            name = urlsplit(self.path).path.rpartition("/")[2]
            if state.is_hung:
                with state.changed:
                    state.changed.wait_for(lambda: not state.is_hung)
                self.close_connection = True
                return
            token = (self.headers.get("Authorization") or "").removeprefix("Bearer ") or None
            status, retry_after = 200, ""
            try:
                answer = msgspec.json.encode(state.answer(method, self.path, body, token))
            except Refusal as refusal:
                status, retry_after = refusal.status, refusal.retry_after
                answer = msgspec.json.encode({"error": {"code": "x", "message": str(refusal), "hint": ""}})
            answer = state.raw.get(name, answer)
            if name in state.held:
                state.holding.add(name)
                state.held[name].wait(60)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            if retry_after:
                self.send_header("Retry-After", retry_after)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        with state.changed:
            state.is_hung = False
            state.changed.notify_all()
        server.shutdown()
        server.server_close()
        serving.join()
