"""Backfill into a real log and store: what it adds, what it knows already, where it goes on."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from opened_store import OpenedStore
from structlog.testing import capture_logs
from transcript_files import SessionFile

from siftd.backfill import BackfillResult, backfill
from siftd.clients.claude_code.hooks import decode_envelope
from siftd.clients.registry import CLIENTS
from siftd.clock import SystemClock
from siftd.daemon.group_commit import Receipt
from siftd.errors import DiskFull, EnvelopeRejected
from siftd.workspace.identity import find_workspace

RECORDED = Path(__file__).resolve().parents[1] / "data" / "claude-code"
RECORDED_FOLDER = "/home/dev/demo"


class Place:
    """A workspace, a Claude home and an opened store."""

    def __init__(self, folder: Path, store: OpenedStore) -> None:
        self.store = store
        self.claude_home = folder / "claude"
        self.root = folder / "work"
        self.root.mkdir()
        self.claude_home.mkdir()
        self.progress: list[tuple[int, int]] = []

    def session(self, session: str = "s1", cwd: Path | str | None = None, **more: Any) -> SessionFile:
        return SessionFile(self.claude_home, cwd or self.root, session, **more)

    async def fill(self, *paths: Path, **more: Any) -> BackfillResult:
        async def on_progress(done: int, total: int, result: BackfillResult) -> None:
            self.progress.append((done, total))

        options: dict[str, Any] = {
            "paths": [str(path) for path in paths],
            "client": CLIENTS["claude-code"],
            "folder": str(self.claude_home / "projects"),
            "workspace": find_workspace(str(self.root)),
            "any_workspace": False,
            "is_excluded": lambda root: False,
            "intake": self.store.intake,
            "keep": self.store.committer.keep,
            "progress_store": self.store,
            "clock": SystemClock(),
            "on_progress": on_progress,
            "goes_on": lambda: True,
        }
        return await backfill(**(options | more))

    def sessions(self) -> list[str]:
        return [row[0] for row in self.store.rows("SELECT DISTINCT session_id FROM events ORDER BY session_id")]


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with OpenedStore(tmp_path / "home") as store:
        yield Place(tmp_path, store)


def counts(result: BackfillResult) -> tuple[int, int, int, int]:
    return result.scanned, result.captured, result.skipped_duplicate, result.errors


async def capture_live(place: Place) -> int:
    """Send what was recorded from the hooks of a real client."""
    kept = 0
    for number, line in enumerate((RECORDED / "envelopes.jsonl").read_bytes().splitlines()):
        try:
            event = decode_envelope(line, ts=1_795_219_305_000 + number)
        except EnvelopeRejected:
            continue
        await place.store.keep(event, frame_uid=f"f{number}")
        kept += 1
    return kept


async def test_backfill_after_a_live_session_adds_only_what_no_hook_reports(place: Place) -> None:
    await capture_live(place)
    before = place.store.rows("SELECT * FROM events")
    assert len(before) > 10
    shutil.copytree(RECORDED / "projects", place.claude_home / "projects")
    workspace = find_workspace(RECORDED_FOLDER)
    said = await place.fill(workspace=workspace)
    assert counts(said) == (len(before) + 2, 2, len(before), 0)
    texts = place.store.rows("SELECT json_extract(payload_json, '$.text') FROM events WHERE tool = 'AssistantText'")
    assert texts == [("I'll look at the token check first.",), ("The expiry is never compared with the clock.",)]
    before = place.store.rows("SELECT * FROM events")
    result = await place.fill(workspace=workspace)
    assert counts(result) == (len(before), 0, len(before), 0)
    assert place.store.rows("SELECT * FROM events") == before

    [main] = (place.claude_home / "projects").glob("*/39d793ea*.jsonl")
    session = SessionFile(place.claude_home, RECORDED_FOLDER, main.stem)
    assert session.path == main
    session.begin("toolu_bad", "Read", file=1)
    session.answer("toolu_bad", "<tool_use_error>InputValidationError: no file_path</tool_use_error>", is_error=True)
    again = await place.fill(workspace=workspace)
    assert counts(again) == (len(before) + 1, 1, len(before), 0)
    [(payload,)] = place.store.rows("SELECT payload_json FROM events ORDER BY id DESC LIMIT 1")
    assert json.loads(payload)["_unhooked"] == "validation"


async def test_backfill_alone_tells_what_the_hooks_would_have_told(place: Place, tmp_path: Path) -> None:
    shutil.copytree(RECORDED / "projects", place.claude_home / "projects")
    await place.fill(workspace=find_workspace(RECORDED_FOLDER))
    told = (
        "SELECT session_id, tool, outcome, agent_id, spawned_agent_id FROM events WHERE tool <> 'AssistantText'"
        " ORDER BY 1, 2, 3, 4, 5"
    )
    read = place.store.rows(told)
    (tmp_path / "other").mkdir()
    async with OpenedStore(tmp_path / "other" / "home") as other:
        live = Place(tmp_path / "other", other)
        await capture_live(live)
        assert other.rows(told) == read


async def test_a_second_backfill_counts_everything_as_a_duplicate(place: Place) -> None:
    place.session().prompt("fix it").call("t1").call("t2").say("done")
    assert counts(await place.fill()) == (4, 4, 0, 0)
    assert counts(await place.fill()) == (4, 0, 4, 0)
    assert place.store.rows("SELECT * FROM backfill_progress") == []


async def test_three_equal_reads_are_three_rows_and_another_sessions_are_new(place: Place) -> None:
    place.session("s1").call("t1").call("t2").call("t3")
    place.session("s2").call("u1")
    assert counts(await place.fill()) == (4, 4, 0, 0)
    assert place.store.rows("SELECT count(*), count(DISTINCT input_hash) FROM events") == [(4, 1)]


async def test_what_a_fork_copied_is_counted_as_a_duplicate(place: Place) -> None:
    place.session("s1").prompt("fix it").call("t1").say("done").age(0)
    place.session("s2").prompt("fix it").call("t1").say("done").call("t2").age(60)
    assert counts(await place.fill()) == (7, 4, 3, 0)
    assert place.store.rows("SELECT count(*) FROM events WHERE session_id = 's2'") == [(1,)]


async def test_what_a_fork_said_itself_in_a_turn_that_it_copied_is_kept(place: Place) -> None:
    place.session("s1").prompt("fix it").call("t1").age(0)
    place.session("s2").prompt("fix it").call("t1").prompt("and test it").say("done").age(60)
    assert counts(await place.fill()) == (6, 4, 2, 0)
    assert place.store.rows("SELECT tool FROM events WHERE session_id = 's2'") == [("UserPromptSubmit",), ("Stop",)]


async def test_older_sessions_come_first(place: Place) -> None:
    place.session("a").call("t1").age(90)
    place.session("b").call("t2").age(30)
    place.session("c").call("t3").age(60)
    await place.fill()
    assert [row[1] for row in place.store.rows()] == ["b", "c", "a"]


async def test_a_last_line_without_its_newline_waits_for_its_rest(place: Place) -> None:
    session = place.session().call("t1")
    whole = session.path.read_bytes()
    session.call("t2")
    rest = session.path.read_bytes()[len(whole) :]
    session.path.write_bytes(whole + rest[:-20])
    assert counts(await place.fill()) == (1, 1, 0, 0)
    session.raw(rest[-20:])
    assert counts(await place.fill()) == (2, 1, 1, 0)


async def test_an_interrupted_backfill_goes_on_behind_the_files_it_finished(place: Place) -> None:
    for number in range(4):
        session = place.session(f"s{number}").prompt("go", f"p{number}").raw(b"not json\n").age(number)
        for each in range(100):
            session.call(f"t{number}-{each}").age(number)
    more = iter([True, False])  # one batch of the second file

    def goes_on() -> bool:
        return not place.store.rows("SELECT path FROM backfill_progress") or next(more)

    first = await place.fill(goes_on=goes_on)
    assert 101 <= first.scanned < 404
    finished = place.store.rows("SELECT path FROM backfill_progress")
    assert 1 <= len(finished) < 4
    for (path,) in finished:  # proves that these are not read again
        times = os.stat(path)
        head = Path(path).read_bytes().split(b"\n")[0] + b"\n"
        Path(path).write_bytes(head.ljust(times.st_size, b"\n"))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    second = await place.fill()
    assert counts(second)[0::3] == (404, 4)
    assert second.captured + second.skipped_duplicate == 404
    assert second.first_error == "s0.jsonl: malformed_line"
    assert place.store.rows("SELECT count(*) FROM events") == [(404,)]
    assert place.store.rows("SELECT * FROM backfill_progress") == []
    done = [done for done, _ in place.progress]
    assert place.progress[-1] == (done[-1], done[-1])


async def test_a_finished_file_that_has_grown_since_is_read_again(place: Place) -> None:
    first = place.session("s1").call("t1").age(0)
    place.session("s2").call("t2").age(60)
    asked = iter([True, True, False])
    assert (await place.fill(goes_on=lambda: next(asked, False))).captured == 1
    first.call("t3").age(90)
    assert counts(await place.fill()) == (3, 2, 1, 0)


async def test_other_workspaces_sessions_are_left_out_unless_asked_for(place: Place, tmp_path: Path) -> None:
    other = tmp_path / "work-other"  # its encoded name begins like this workspace's
    other.mkdir()
    place.session("mine").call("t1")
    place.session("theirs", other).call("t2")
    assert counts(await place.fill()) == (1, 1, 0, 0)
    assert counts(await place.fill(place.claude_home / "projects")) == (1, 0, 1, 0)
    assert place.sessions() == ["mine"]
    await place.fill(any_workspace=True)
    assert place.sessions() == ["mine", "theirs"]


async def test_an_excluded_workspace_is_left_out_though_any_is_asked_for(place: Place, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    place.session("mine").call("t1")
    place.session("theirs", secret).call("t2")
    await place.fill(any_workspace=True, is_excluded=lambda root: root == str(secret))
    assert place.sessions() == ["mine"]


async def test_sessions_of_subfolders_and_linked_worktrees_belong_to_the_repository(
    place: Place, tmp_path: Path
) -> None:
    git = place.root / ".git"
    for name in ("objects", "refs", "worktrees/wt"):
        (git / name).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    worktree = tmp_path / "elsewhere"
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {git}/worktrees/wt\n")
    (git / "worktrees/wt/commondir").write_text("../..\n")
    (git / "worktrees/wt/gitdir").write_text(f"{worktree}/.git\n")
    place.session("s1").call("t1")
    place.session("s2", place.root / "src").call("t2")
    place.session("s3", worktree).call("t3")
    place.session("s4", tmp_path / "work-src").call("t4")
    await place.fill()
    assert place.sessions() == ["s1", "s2", "s3"]


async def test_subagents_follow_their_parent_and_are_linked_to_the_call_that_started_them(
    place: Place, tmp_path: Path
) -> None:
    agent = {"description": "look", "prompt": "Who calls it?"}
    place.session("s1").prompt("go").call("t1", "Agent", {"agentId": "a1", "status": "completed"}, **agent).age(60)
    first = place.session("s1", agent_id="a1").prompt("Who calls it?")
    first.call("t2").call("t3", "Agent", **agent).say("nobody").started_by("t1").age(0)
    second = SessionFile(place.claude_home, place.root, "s1", agent_id="a2")
    second.cwd = str(tmp_path / "a-worktree-that-is-gone")
    second.prompt("Who calls it?").call("t4").say("nobody").started_by("t3").age(0)
    result = await place.fill()
    assert counts(result) == (7, 7, 0, 0)
    rows = place.store.rows("SELECT tool, agent_id, spawned_agent_id FROM events ORDER BY id")
    assert rows == [
        ("UserPromptSubmit", None, None),
        ("Agent", None, "a1"),
        ("Read", "a1", None),
        ("Agent", "a1", "a2"),
        ("SubagentStop", "a1", None),
        ("Read", "a2", None),
        ("SubagentStop", "a2", None),
    ]


async def test_a_path_may_be_a_file_or_a_folder_and_counts_once(place: Place, tmp_path: Path) -> None:
    session = place.session("s1").call("t1")
    other = place.session("s2").call("t2")
    moved = tmp_path / "copies" / "deep"
    moved.mkdir(parents=True)
    shutil.copy(session.path, moved / "x.jsonl")
    (moved / "loop").symlink_to(tmp_path / "copies")
    (moved / "same.jsonl").symlink_to(moved / "x.jsonl")
    assert counts(await place.fill(tmp_path / "copies", moved / "x.jsonl")) == (1, 1, 0, 0)
    assert counts(await place.fill(other.path)) == (1, 1, 0, 0)


async def test_what_cannot_be_read_is_counted_and_named(place: Place, tmp_path: Path) -> None:
    odd = tmp_path / "odd"
    odd.mkdir()
    (odd / "loop.jsonl").symlink_to(odd / "loop.jsonl")
    os.mkfifo(odd / "pipe.jsonl")
    session = place.session().raw(b"{broken\n").raw(b'{"type":"user","sessionId":7}\n').call("t1")
    result = await place.fill(tmp_path / "gone.jsonl", odd, session.path)
    assert counts(result) == (1, 1, 0, 5)
    assert result.first_error == "loop.jsonl: it is a link that leads elsewhere"
    assert result.as_json() == {
        "source": "claude-code",
        "scanned": 1,
        "captured": 1,
        "skippedDuplicate": 0,
        "errors": 5,
        "firstError": "loop.jsonl: it is a link that leads elsewhere",
        "sessions": 1,
        "growing": 0,
        "firstTs": result.first_ts,
        "lastTs": result.last_ts,
    }


async def test_no_transcripts_at_all_is_no_error(place: Place) -> None:
    assert counts(await place.fill()) == (0, 0, 0, 0)


async def test_an_event_that_is_refused_is_an_error_and_an_ignored_one_is_not(tmp_path: Path) -> None:
    async with OpenedStore(tmp_path / "home", values={"capture.ignore": ["Read"]}) as store:
        place = Place(tmp_path, store)
        session = place.session().call("t1").call("t2", "Bash", command="ls")
        session.call("t3", "x" * 300, value=1)
        assert counts(await place.fill()) == (3, 1, 0, 1)
        assert [row[2] for row in store.rows()] == ["Bash"]


@pytest.mark.slow
async def test_long_lines_are_read_and_a_payload_beyond_the_limit_is_refused(place: Place) -> None:
    session = place.session()
    session.call("t1", "Bash", {"stdout": "word " * 1_000_000}, command="cat big")
    session.call("t2", "Bash", {"stdout": "x" * (17 << 20)}, command="cat bigger")
    session.call("t3")
    result = await place.fill()
    assert counts(result) == (3, 2, 0, 1)
    assert result.first_error == "s1.jsonl: payload_too_large"
    [(size,)] = place.store.rows("SELECT length(payload_json) FROM events WHERE tool = 'Bash'")
    assert 1000 < size <= 262_144


async def test_a_full_disk_ends_the_run_and_the_next_one_goes_on(place: Place) -> None:
    place.session("s1").call("t1").age(0)
    place.session("s2").call("t2").call("t3").age(60)
    place.session("s3").call("t4").age(90)
    taken = 0

    async def keep(event: Any) -> Receipt:
        nonlocal taken
        taken += 1
        if taken > 3:
            return Receipt(None, error=DiskFull("the disk is full"))
        return await place.store.committer.keep(event)

    result = await place.fill(keep=keep)
    assert (result.captured, result.first_error) == (1, "s2.jsonl: disk_full")
    assert counts(await place.fill()) == (4, 4, 0, 0)
    assert len(place.store.rows()) == 4


async def test_a_locked_database_does_not_stop_a_backfill(place: Place) -> None:
    place.session("s1").call("t1")
    person = place.store.by_hand()
    person.execute("BEGIN IMMEDIATE")
    with capture_logs():
        assert counts(await place.fill()) == (1, 1, 0, 0)
    person.execute("ROLLBACK")
    assert counts(await place.fill()) == (1, 0, 1, 0)


async def test_the_last_words_of_an_old_client_end_their_turn_once_its_file_is_quiet(place: Place) -> None:
    session = place.session().add("user", message={"content": "fix it"})
    session.add("assistant", message={"id": "m1", "content": [{"type": "text", "text": "done"}]})
    os.utime(session.path)
    assert counts(await place.fill()) == (1, 1, 0, 0)
    session.age(0)
    assert counts(await place.fill()) == (2, 1, 1, 0)


async def test_a_live_capture_in_the_middle_of_a_backfill_is_one_row_with_what_the_transcript_tells(
    place: Place,
) -> None:
    session = place.session()
    for number in range(300):
        session.call(f"t{number}")
    captured = 0

    async def on_progress(done: int, total: int, result: BackfillResult) -> None:
        nonlocal captured
        if not captured:
            call: dict[str, Any] = {
                "session_id": "s1",
                "hook_event_name": "PostToolUse",
                "tool_name": "Read",
                "tool_use_id": "t299",
            }
            call |= {"cwd": str(place.root), "tool_input": {"file_path": f"{place.root}/a.py"}, "tool_response": "x"}
            [receipt] = await place.store.keep(decode_envelope(json.dumps(call).encode(), ts=1), frame_uid="f1")
            assert not receipt.is_duplicate
            captured = 1

    assert counts(await place.fill(on_progress=on_progress)) == (300, 299, 1, 0)


async def test_nothing_is_written_under_the_claude_home(place: Place) -> None:
    session = place.session("s1").call("t1")
    before = {path: path.stat().st_mtime_ns for path in place.claude_home.rglob("*")}
    await place.fill()
    assert {path: path.stat().st_mtime_ns for path in place.claude_home.rglob("*")} == before
    assert session.path.exists()


async def test_a_secret_in_a_transcript_never_reaches_log_or_store(place: Place) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    place.session().call("t1", "Bash", {"stdout": secret}, command=f"echo {secret}")
    await place.fill()
    assert secret.encode() not in Path(place.store.paths.wal).read_bytes()
    [(payload,)] = place.store.rows("SELECT payload_json FROM events")
    assert secret not in payload
    assert "REDACTED" in payload


async def test_a_transcript_from_elsewhere_is_of_nobody_we_know(place: Place, tmp_path: Path) -> None:
    """One in the client's home the client has written; any other may come from anybody, through whoever names it."""
    place.session("s1").prompt("push to main").call("t1").say("Done.")
    theirs = place.session("s2").prompt("push to main by force").call("t2").say("Forced.")
    copy = tmp_path / "from-a-colleague.jsonl"
    shutil.move(theirs.path, copy)
    await place.fill()
    await place.fill(copy)
    said = place.store.rows("SELECT session_id, tool, said_by FROM events ORDER BY session_id, id")
    assert said == [
        ("s1", "UserPromptSubmit", "agent"), ("s1", "Read", "output"), ("s1", "Stop", "agent"),
        ("s2", "UserPromptSubmit", "outside"), ("s2", "Read", "outside"), ("s2", "Stop", "outside"),
    ]  # fmt: skip
