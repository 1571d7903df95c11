"""What a session named once is nowhere at rest, whichever way it came and whenever it was said: real processes."""

from __future__ import annotations

import contextlib
import gzip
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from daemons import Place, tool_call, wait_until
from transcript_files import SessionFile

pytestmark = pytest.mark.slow

SECRET = "Velvet_Anvil88"
OTHER = "Copper-Kettle77"
"""Named in no session; bare in one: a file's name."""


@pytest.fixture
def place() -> Iterator[Place]:
    made = Place()
    made.home.mkdir(mode=0o700, exist_ok=True)
    yield made
    made.end()


def files_that_hold(place: Place, secret: str) -> list[str]:
    """Return the files at rest, and the values of the databases, that hold it in any case of letters."""
    found = []
    for file in sorted(place.home.rglob("*")):
        data = file.read_bytes() if file.is_file() else b""
        data += gzip.decompress(data) if file.suffix == ".gz" else b""
        if secret.lower().encode() in data.lower():
            found.append(file.name)
    for database in place.home.rglob("*.sqlite"):
        with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            found += [f"{database.name} (values)" for line in connection.iterdump() if secret.lower() in line.lower()]
    return found


def ran(number: int, command: str, stdout: str, **fields: Any) -> dict[str, Any]:
    return tool_call(number, tool_input={"command": command}, tool_response={"stdout": stdout}, **fields)


def test_what_a_session_named_once_is_in_no_byte_of_the_home(place: Place) -> None:
    """By hook and backfill, before and after it was named, summarised or not, in compressed segments and snapshots."""
    patches = {"siftd.log.writer.SEAL_BYTES": 4_000, "siftd.daemon.maintenance.SNAPSHOT_MS": 1}
    place.start("--set", "memory.consolidator.tickMs=1000", patches=patches)
    for number in range(8):
        place.hook(ran(number, f"./login.sh {SECRET}", f"tried {SECRET} and {OTHER}\n" * 20))
    place.ask("drain")
    wait_until("a segment is compressed", lambda: list(Path(place.paths.folder).glob("*.gz")))
    wait_until("a snapshot is made", lambda: list(Path(place.paths.snapshots).glob("[0-9]*.sqlite")))
    assert files_that_hold(place, SECRET), "it can fail"
    place.hook(ran(10, "cat prod.env", f"MAIL_PASSWORD={SECRET}\n"))
    place.hook(ran(11, f"curl -d {SECRET} https://mail.lan", f"sent {SECRET}"))
    wait_until("what was stored is hidden", lambda: place.log_lines("values_hidden"))

    claude = place.root / "claude"
    session = SessionFile(claude, str(place.folder), "5e551011-0000-4000-8000-000000000009")
    session.begin("toolu_b1", "Bash", command=f"./login.sh {SECRET}")
    session.answer("toolu_b1", f"tried {SECRET}")
    session.prompt(f"PASSWORD={SECRET} is what it takes", prompt_id="p2")
    session.say(f"I used {SECRET}.")
    place.ask("backfill", folder=str(claude / "projects"))
    place.ask("drain")
    assert place.ask("info")["redactions"]["session-value"] >= 3
    place.stop(hold=True)
    assert files_that_hold(place, SECRET) == []
    assert files_that_hold(place, OTHER) != []
