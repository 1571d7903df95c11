"""Transcripts that hooks name, read as they grow: what no hook tells, once, whatever becomes of the file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from opened_store import OpenedStore
from structlog.testing import capture_logs
from test_backfill_run import RECORDED, Place, capture_live
from transcript_files import SessionFile

from siftd.clients.registry import CLIENTS
from siftd.clock import Clock, SystemClock
from siftd.daemon.ingest.transcripts import FOLLOWED_MAX, SECONDS_MAX, Transcripts
from siftd.workspace.identity import find_workspace
from siftd.workspace.secret import ensure_secret

TEXTS = "SELECT json_extract(payload_json, '$.text') FROM events WHERE tool = 'AssistantText' ORDER BY ts, id"
LOOK, FOUND = "I look at the check first.", "The expiry is never compared, because decode() drops it."


class Watched(Place):
    """A place whose transcripts are followed."""

    def __init__(self, folder: Path, store: OpenedStore) -> None:
        super().__init__(folder, store)
        self.begin()

    def begin(self, clock: Clock | None = None) -> None:
        """Follow as a daemon does that has just started."""
        secret = ensure_secret(self.store.paths)
        keep = self.store.committer.keep
        self.transcripts = Transcripts(self.store.intake, keep, self.store, clock or SystemClock(), secret)

    async def read(self, *named: SessionFile | Path, session: str = "s1") -> int:
        for each in named:
            self.store.intake.named[str(each.path if isinstance(each, SessionFile) else each)] = (
                CLIENTS["claude-code"],
                session,
            )
        return await self.transcripts.read()

    def texts(self) -> list[str]:
        return [row[0] for row in self.store.rows(TEXTS)]


def said(file: SessionFile, text: str, number: int) -> SessionFile:
    """A text before a call that is answered, as the client writes them."""
    content = [{"type": "text", "text": text}]
    file.add(
        "assistant", uuid=f"u{number}", message={"id": f"x{number}", "content": content, "stop_reason": "tool_use"}
    )
    return file.call(f"t{number}")


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Watched]:
    async with OpenedStore(tmp_path / "home") as store:
        yield Watched(tmp_path, store)


async def test_what_was_written_since_is_kept_once(place: Watched) -> None:
    file = said(place.session().prompt("fix it"), LOOK, 1)
    assert await place.read(file) == 1
    assert await place.read() == 0
    said(file, FOUND, 2)
    assert await place.read(file) == 1
    assert place.texts() == [LOOK, FOUND]
    assert place.store.rows("SELECT DISTINCT tool FROM events") == [("AssistantText",)], "hooks tell the rest"


async def test_live_capture_and_following_are_what_a_backfill_tells(place: Watched) -> None:
    shutil.copytree(RECORDED / "projects", place.claude_home / "projects")
    await capture_live(place)
    for each in sorted(place.claude_home.rglob("*.jsonl")):
        main = each.parent.parent.name if each.name.startswith("agent-") else each.stem
        await place.read(each, session=main)
    live = place.store.rows("SELECT uid, input_hash FROM events ORDER BY uid")
    result = await place.fill(workspace=find_workspace("/home/dev/demo"))
    assert (result.captured, result.errors) == (0, 0)
    assert place.store.rows("SELECT uid, input_hash FROM events ORDER BY uid") == live
    assert len(place.texts()) == 2


async def test_a_line_that_is_being_written_waits_for_its_rest(place: Watched) -> None:
    file = said(place.session(), LOOK, 1)
    whole = file.path.read_bytes()
    file.path.write_bytes(whole[: whole.index(b'"type": "tool_use"')])
    assert await place.read(file) == 0
    file.path.write_bytes(whole)
    assert await place.read() == 1


async def test_a_turn_s_last_words_are_left_to_its_end(place: Watched) -> None:
    file = said(place.session().prompt("fix it"), LOOK, 1).say("Fixed.")
    await place.read(file)
    file.prompt("and now?", "p2")
    await place.read()
    assert place.texts() == [LOOK]


async def test_the_next_daemon_goes_on_where_nothing_was_open(place: Watched) -> None:
    file = said(place.session().prompt("fix it"), LOOK, 1)
    file.begin("t9", "Bash", command="make")
    await place.read(file)
    place.begin()
    file.answer("t9", "<tool_use_error>InputValidationError: no</tool_use_error>", is_error=True)
    said(file, FOUND, 2)
    assert await place.read(file) == 2
    assert place.texts() == [LOOK, FOUND]
    assert place.store.rows("SELECT tool FROM events WHERE payload_json LIKE '%_unhooked%'") == [("Bash",)]
    [(offset,)] = place.store.rows("SELECT offset FROM transcript_cursors")
    assert offset == file.path.stat().st_size


@pytest.mark.parametrize("how", ["cut", "rewritten", "replaced"])
@pytest.mark.parametrize("is_new_daemon", [False, True])
async def test_a_file_that_is_not_what_it_was_is_read_from_its_beginning(
    place: Watched, how: str, *, is_new_daemon: bool
) -> None:
    file = said(said(place.session(), LOOK, 1), "Something else.", 2)
    await place.read(file)
    if is_new_daemon:
        place.begin()
    length = file.path.stat().st_size
    if how == "replaced":
        file.path.unlink()
    elif how == "cut":
        os.truncate(file.path, 0)
    else:
        file.path.write_bytes(b"")
    said(file, FOUND, 3)
    if how == "rewritten":
        file.raw(b" " * (length - file.path.stat().st_size + 10) + b"\n")
    await place.read(file)
    assert FOUND in place.texts()
    assert len(place.texts()) == 3


async def test_another_session_s_words_are_not_taken(place: Watched) -> None:
    assert await place.read(said(place.session("s2"), LOOK, 1), session="s1") == 0
    assert place.texts() == []


async def test_links_pipes_and_other_names_are_left_alone(place: Watched, tmp_path: Path) -> None:
    file = said(place.session(), LOOK, 1)
    link, pipe = tmp_path / "link.jsonl", tmp_path / "pipe.jsonl"
    link.symlink_to(file.path)
    os.mkfifo(pipe)
    other = tmp_path / "other.txt"
    shutil.copy(file.path, other)
    relative = Path(os.path.relpath(file.path))
    with capture_logs() as logs:
        assert await place.read(link, pipe, other, relative, tmp_path / "gone.jsonl", tmp_path) == 0
    assert {each["event"] for each in logs} <= {"transcript_not_read"}
    assert place.texts() == []


async def test_what_stands_in_a_transcript_is_redacted(place: Watched) -> None:
    token = "ghp_" + "a1B2" * 9
    await place.read(said(place.session(), f"The token {token} is in the log, which is why it leaks.", 1))
    assert token not in json.dumps(place.store.rows("SELECT * FROM events"))
    assert "REDACTED" in place.texts()[0]


@pytest.mark.slow
async def test_only_so_many_are_followed_and_none_is_lost(place: Watched) -> None:
    files = [said(place.session(f"s{number}"), LOOK, number) for number in range(FOLLOWED_MAX + 3)]
    for number, file in enumerate(files):
        await place.read(file, session=f"s{number}")
    for number, file in enumerate(files):
        said(file, FOUND, 100 + number)
        await place.read(file, session=f"s{number}")
    assert len(place.texts()) == 2 * len(files)


class HastyClock(SystemClock):
    """Time for one file at each reading."""

    def __init__(self) -> None:
        self.at = 0.0

    def monotonic(self) -> float:
        self.at += 0.6 * SECONDS_MAX
        return self.at


async def test_what_one_reading_has_no_time_for_the_next_begins_with(place: Watched) -> None:
    place.begin(HastyClock())
    files = [said(place.session(f"s{number}"), LOOK, number) for number in range(3)]
    for number, file in enumerate(files):
        place.store.intake.named[str(file.path)] = (CLIENTS["claude-code"], f"s{number}")
    assert [await place.read() for _ in range(4)] == [1, 1, 1, 0]
