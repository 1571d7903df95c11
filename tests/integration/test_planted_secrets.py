"""Every kind of secret, at every place of a payload, through every way in and out: no byte of any is at rest.

What is planted is each rule's own example, values of the workspace's `.env`, and a rule of one's own. Looked through
are the raw bytes of every file below the home, compressed ones opened, and every value of the database, whose long
texts are spread over pages.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import re2  # type: ignore[import-untyped]
from daemons import Place, wait_until
from transcript_files import SessionFile

from siftd.errors import RequestRefused
from siftd.redact import Redactor
from siftd.redact.rules import RULES
from siftd.wire.frames import encode_hook

pytestmark = pytest.mark.slow

OWN_RULE = {"name": "customer-number", "pattern": "KD-[0-9]{8}", "example": "KD-20417733"}
ENV = {"DB_PASSWORD": "tr0ub4dor&3horse+9", "SESSION_SALT": "qZ7-x9Lm2.vK4", "MAIL_URL": "smtp://me:brass-M0nkey-42@mx"}
KINDS_MIN = 200
NO_TEXT = frozenset({"pgpass", "kubernetes-secret", "encoded", "static-key", "netrc"})
"""Known by the lines around them: within other lines, one character before or behind them makes them another text."""
WHOLE_LINES = ("user bob ",)
"""Texts of a dialogue, which a line begins with by definition: behind another word they are words of a sentence."""
NOT_ENCODED = frozenset({"email", "phone"})
"""Too short to be told from chance in base64."""


@dataclass(frozen=True)
class Kind:
    """One kind of secret: a text that holds it, and what of the text nobody may find again."""

    name: str
    text: str
    secrets: tuple[str, ...]

    @property
    def is_escapable(self) -> bool:
        return self.name not in NO_TEXT

    @property
    def is_part_of_a_line(self) -> bool:
        return not self.text.startswith(WHOLE_LINES)

    @property
    def is_encodable(self) -> bool:
        return self.name not in NOT_ENCODED | NO_TEXT


def kinds() -> list[Kind]:
    redactor = Redactor(b"k" * 32)
    found = []
    for rule in RULES:
        if not redactor.find(f"{rule.example}\nlast line"):
            continue  # what is left of a key that was cut off behind its first line: no secret in any other place
        spans = redactor.find(rule.example)
        found.append(Kind(rule.name, rule.example, tuple(rule.example[begin:end] for begin, end, _ in spans)))
    found.append(Kind("customer-number", "for KD-20417734 only", ("KD-20417734",)))
    found += [Kind("env-value", f"a {value} b", (value,)) for value in (*list(ENV.values())[:2], "brass-M0nkey-42")]
    return found


KINDS = kinds()


def places(kind: Kind) -> dict[str, Any]:
    """Return the payload of a call that holds a kind at every place: depth, keys, lines, escapes, encodings."""
    text = f"first line\n{kind.text}\nlast line"
    lines = text.split("\n")
    planted: dict[str, Any] = {
        "command": kind.text,
        "deep": [{"deeper": [[{"deepest": text}]]}],
        kind.text: "as a key",
    }
    if kind.name not in NO_TEXT:
        planted["patch"] = [{"lines": [f" {line}" for line in lines]}]
        planted["numbered"] = "\n".join(f"{number:6}\u2192{line}" for number, line in enumerate(lines, start=1))
    if kind.is_escapable:
        planted["escaped"] = json.dumps({"log": text})
    if kind.is_encodable:
        planted["encoded"] = base64.b64encode(text.encode()).decode("ascii")
    return planted


def needles() -> dict[bytes, str]:
    """Return every form in which a secret would be found again, and its kind."""
    forms: dict[bytes, str] = {}
    for kind in KINDS:
        for secret in kind.secrets:
            written = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
            if kind.is_encodable and len(secret) >= 12:
                for before in range(3):
                    encoded = base64.b64encode(bytes(before) + secret.encode()).decode("ascii")
                    written.add(encoded[4:-4])
            forms |= {each.encode(): kind.name for each in written}
    return forms


class Search:
    """Finds any form of any secret, in any case of letters (full text is in lower case), in one pass."""

    def __init__(self) -> None:
        self._forms = {form.lower(): name for form, name in needles().items()}
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.max_mem = 256 << 20
        self._any = re2.compile(b"|".join(re2.escape(form) for form in sorted(self._forms)), options)

    def kinds_in(self, data: bytes) -> set[str]:
        """Return the kinds of which something stands in the data."""
        lowered = data.lower()
        if self._any.search(lowered) is None:
            return set()
        return {name for form, name in self._forms.items() if form in lowered}


def files_at_rest(place: Place) -> Iterator[tuple[str, bytes]]:
    for file in sorted(place.home.rglob("*")):
        if file.is_file() and file.name not in ("config.json", "config.good.json"):
            data = file.read_bytes()
            yield file.name, data + (gzip.decompress(data) if file.suffix == ".gz" else b"")
    for database in place.home.rglob("*.sqlite"):
        with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            yield f"{database.name} (values)", "\n".join(connection.iterdump()).encode("utf-8", "surrogatepass")


def assert_clean(place: Place, search: Search, when: str) -> None:
    dirty = {name: kinds for name, data in files_at_rest(place) if (kinds := search.kinds_in(data))}
    assert dirty == {}, when


@pytest.fixture
def place() -> Iterator[Place]:
    made = Place()
    env = made.folder / ".env"
    env.write_text("".join(f"{name}={value}\n" for name, value in ENV.items()))
    config = Path(made.paths.home.config)
    config.parent.mkdir(parents=True, mode=0o700)
    made.home.chmod(0o700)
    config.write_text(json.dumps({"redact.rules": [OWN_RULE]}))
    yield made
    env.unlink()
    made.end()


def start(place: Place) -> None:
    """Start a daemon whose log is sealed, compressed and copied soon."""
    patches = {"siftd.log.writer.SEAL_BYTES": 400_000, "siftd.daemon.maintenance.SNAPSHOT_MS": 1}
    place.start("--set", "memory.consolidator.tickMs=1000", patches=patches)


def envelope(number: int, kind: Kind, **fields: Any) -> dict[str, Any]:
    told = {
        "session_id": "5e551011-0000-4000-8000-000000000001",
        "cwd": "/src/demo",
        "hook_event_name": "PostToolUse",
        "tool_name": "Task",
        "tool_input": places(kind),
        "tool_response": {"stdout": f"first line\n{kind.text}\nlast line"},
        "tool_use_id": f"toolu_{number:05}",
    }
    return told | fields


def failed(number: int, kind: Kind) -> dict[str, Any]:
    told = envelope(number, kind, hook_event_name="PostToolUseFailure", error=f"it failed:\n{kind.text}\n")
    return {name: value for name, value in told.items() if name != "tool_response"}


def asked(number: int, kind: Kind) -> dict[str, Any]:
    told = envelope(number, kind, hook_event_name="UserPromptSubmit", prompt=f"Look at this:\n{kind.text}\n")
    return {name: value for name, value in told.items() if not name.startswith("tool_")}


def frames() -> Iterator[bytes]:
    """Yield a hook frame for each kind: in turn a call, a failed one, a prompt."""
    for number, kind in enumerate(KINDS):
        tell = (envelope, failed, asked)[number % 3]
        header = {
            "client": "claude-code",
            "frameUid": f"{number:032x}",
            "root": "/src/demo",
            "ts": 1_760_000_000_000 + number,
        }
        yield encode_hook(json.dumps(header).encode(), json.dumps(tell(number, kind)).encode())


def spool(place: Place, messages: Iterator[bytes]) -> None:
    """Hand frames to `siftd spool`, as a courier does."""
    done = subprocess.run(
        [sys.executable, "-I", "-m", "siftd", "spool", "--folder", str(place.folder)],
        input=b"".join(messages),
        env=place.env,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def capture(place: Place) -> None:
    with place.client() as client:
        for number, kind in enumerate(KINDS):
            told = {"sessionId": "by-socket", "tool": "Bash", "ts": 1_750_000_000_000 + number, "uid": f"c{number}"}
            payload = {"tool_input": places(kind), "tool_response": {"stderr": kind.text}}
            client.request({"kind": "capture", "payload": payload, **told}, timeout=20)


def speak(place: Place) -> None:
    """Remember, ask, and be refused, with a secret in everything that is said."""
    with place.client() as client:
        for kind in KINDS:
            told = {
                "text": f"The note of {kind.name} says:\n{kind.text}\nand more.",
                "tags": [kind.text if len(kind.text) <= 64 else "long"],
            }
            with contextlib.suppress(RequestRefused):
                client.request({"kind": "remember", **told}, timeout=20)
        token = next(kind.text for kind in KINDS if kind.name == "github-token")
        for request in (
            {"kind": "search", "query": f"who used {token}?"},
            {"kind": "recall", "prompt": f"who used {token}?"},
            {"kind": "show", "id": token},
            {"kind": "forget", "query": token, "dryRun": False},
            {"kind": token},
            {"kind": "export", "path": f"/nowhere/{token}"},
            {"kind": "capture", "sessionId": token, "tool": token, "source": token, "cwd": f"/src/{token}",
             "uid": token, "payload": {token: token}, "ts": 1},
            {"kind": "capture", "sessionId": "s", "tool": token, "payload": token, "ts": 1},
        ):  # fmt: skip
            with contextlib.suppress(RequestRefused):
                client.request(request, timeout=20)


def write_transcripts(place: Place) -> Path:
    claude = place.root / "claude"
    session = SessionFile(claude, str(place.folder), "5e551011-0000-4000-8000-000000000009")
    for number, kind in enumerate(KINDS):
        if number % 3 == 0:
            session.prompt(f"Look:\n{kind.text}\n", prompt_id=f"p{number}")
            continue
        session.begin(f"toolu_b{number:04}", "Task", **places(kind))
        session.answer(f"toolu_b{number:04}", kind.text, is_error=bool(number % 2))
    session.say(f"Seen {KINDS[0].text}")
    return claude


def plant_in_export(exported: Path, planted: Path) -> None:
    """Write an export as a careless hand would: every text of it holds a secret."""
    lines = []
    for number, line in enumerate(map(json.loads, exported.read_text().splitlines())):
        kind = KINDS[number % len(KINDS)]
        match line["kind"]:
            case "event":
                line |= {
                    "payload": {"tool_input": places(kind)},
                    "uid": f"{number:032x}",
                    "tool": f"Bash {kind.text}"[:200] if kind.is_part_of_a_line else kind.text,
                }
                line = {name: value for name, value in line.items() if not name.endswith(("_key", "Key", "Uid"))}
            case "summary" | "memory":
                line |= {"text": f"It says:\n{kind.text}\n"} | (
                    {"uid": f"m{number}"} if line["kind"] == "memory" else {}
                )
            case "session":
                line |= {"cwd": f"/src/{kind.text}" if kind.is_part_of_a_line else kind.text}
        lines.append(json.dumps(line))
    planted.write_text("\n".join(lines) + "\n")


def test_no_byte_of_any_planted_secret_is_at_rest_by_any_way(place: Place) -> None:
    assert len(KINDS) >= KINDS_MIN
    assert all(kind.secrets for kind in KINDS)
    search = Search()
    assert all(search.kinds_in(json.dumps(places(kind)).encode()) for kind in KINDS), "it can fail"
    start(place)
    capture(place)
    place.kill()
    assert_clean(place, search, "after capture and kill -9")

    spool(place, frames())
    assert len(place.spool_files()) == len(KINDS)
    assert_clean(place, search, "spooled")

    start(place)
    wait_until("the spool is taken in", lambda: not place.spool_files(), 60)
    speak(place)
    claude = write_transcripts(place)
    with place.client() as client:
        filled = client.request({"kind": "backfill", "folder": str(claude / "projects")}, timeout=120)
        assert filled["captured"] >= len(KINDS)
        client.request({"kind": "drain"}, timeout=120)
        exported = place.root / "all.ndjson"
        client.request({"kind": "export", "path": str(exported)}, timeout=60)
        assert search.kinds_in(exported.read_bytes()) == set(), "exported"
        planted = place.root / "planted.ndjson"
        plant_in_export(exported, planted)
        taken = client.request({"kind": "import", "path": str(planted)}, timeout=120)
        assert taken["added"]["events"] >= 3 * len(KINDS)
        client.request({"kind": "drain"}, timeout=120)
    wait_until("a segment is compressed", lambda: list(Path(place.paths.folder).glob("*.gz")), 60)
    wait_until("a snapshot is made", lambda: list(Path(place.paths.snapshots).glob("[0-9]*.sqlite")), 60)
    assert place.ask("info")["redactions"]["env-value"] > 10
    place.stop(hold=True)
    assert_clean(place, search, "after spool, backfill, remember, export and import")
