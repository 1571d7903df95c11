"""Every kind of secret, at every place of a payload, through every way in and out: no byte of any is at rest.

What is planted is each rule's own example, values of the workspace's `.env`, and a rule of one's own. Looked through
are the raw bytes of every file below the home, compressed ones opened, and every value of the database, whose long
texts are spread over pages.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from daemons import Place, wait_until
from planted import ENV, KINDS, KINDS_MIN, OWN_RULE, Kind, Search, places
from transcript_files import SessionFile

from siftd.errors import RequestRefused
from siftd.wire.frames import encode_hook

pytestmark = pytest.mark.slow


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
