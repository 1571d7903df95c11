"""A folder that a clone or an archive brings reads and writes no other project's memory; real hooks, daemons, git.

`bank` has a pin and a session. Claude Code is then started, as its hooks see it, in folders that lead there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import whose_folders
from daemons import Place, RawClient, session_start, tool_call, wait_until
from whose_folders import Case

from siftd.wire.frames import encode_hook
from siftd.wire.launch import ensure_daemon
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home

DONE = "make target-7001"
"""What was done last in the bank's folder, which every session that starts there is told."""
PIN = "The production ledger host is ledger-7.bank.internal"
FOUR_WAYS = [
    whose_folders.clone_with_a_bare_repository_that_is_part_of_another,
    whose_folders.archive_with_a_git_file,
    whose_folders.git_folder_with_a_commondir,
    whose_folders.git_link_to_a_repository,
]


@contextmanager
def standing_in(place: Place, folder: Path) -> Iterator[None]:
    """Have `place` speak of another folder's workspace."""
    before = place.folder, place.paths
    place.folder = folder
    place.paths = Home(str(place.home)).for_workspace(find_workspace(str(folder)).key)
    try:
        yield
    finally:
        place.folder, place.paths = before


def prompt(text: str, session: str) -> dict[str, Any]:
    return session_start() | {"hook_event_name": "UserPromptSubmit", "prompt": text, "session_id": session}


def work_was_done(place: Place) -> None:
    ensure_daemon(place.paths, str(place.folder), place.env).close()
    place.ask("remember", text=PIN, pin=True)
    place.capture(7001, sessionId="earlier")
    place.ask("drain")


@pytest.mark.slow
@pytest.mark.parametrize("make", FOUR_WAYS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("runs", [True, False], ids=["its daemon runs", "only its kept brief is there"])
def test_a_folder_that_leads_to_another_project_is_told_nothing_of_it_and_adds_nothing_to_it(
    place: Place, make: Callable[[Path], Case], runs: bool
) -> None:
    made = place.root / "made"
    made.mkdir()
    case = make(made)
    assert case.leads_to is not None
    with standing_in(place, case.leads_to):
        work_was_done(place)
        wait_until("the brief is kept", Path(place.paths.brief).exists)
        assert DONE.encode() in place.hook(session_start()).out, "the project itself is told"
        place.wait_for_couriers()
        known = place.count_events()
        if not runs:
            place.stop()
    there = {"CLAUDE_PROJECT_DIR": str(case.folder)}
    told = place.hook(session_start() | {"session_id": "there"}, there)
    asked = place.hook(prompt("which production ledger host is it? PLANTED", "there"), there)
    place.hook(tool_call(9, session_id="there"), there)
    place.wait_for_couriers()
    assert told.out + asked.out == b""
    with standing_in(place, case.folder):
        assert place.settle() == 2, "what was done there is kept there"
    with standing_in(place, case.leads_to):
        if not runs:
            ensure_daemon(place.paths, str(place.folder), place.env).close()
        assert place.settle() == known
        assert not place.rows("SELECT 1 FROM events WHERE payload_json LIKE '%PLANTED%'")


def frame_from(root: str, envelope: dict[str, Any], *, mark: bytes = b"\x01") -> bytes:
    header = {"client": "claude-code", "frameUid": os.urandom(16).hex(), "root": root, "ts": 1_760_000_000_000}
    frame = encode_hook(json.dumps(header).encode(), json.dumps(envelope).encode())
    return frame[:4] + mark + frame[5:]


def test_a_daemon_itself_tells_nothing_to_a_folder_that_is_not_its_own_and_keeps_nothing_from_it(place: Place) -> None:
    """A hook of an earlier version may still follow what leads here."""
    stranger = place.root / "stranger"
    stranger.mkdir()
    work_was_done(place)
    with RawClient(place.paths) as client:
        for folder, is_told in ((place.folder, True), (stranger, False), (place.root / "gone", False)):
            client.send(frame_from(str(folder), session_start() | {"session_id": folder.name}, mark=b"\x02"))
            answer = client.answer()
            assert answer is not None
            assert (DONE in str(answer)) is is_told, folder
        before = place.count_events()
        client.send(frame_from(str(stranger), tool_call(3)))
        answer = client.answer()
        assert answer is not None
        assert (answer["ok"], answer["retry"], answer["error"]["code"]) == (False, True, "wrong_workspace")
        assert place.count_events() == before
        client.send(frame_from(str(place.root / "removed"), tool_call(4)))
        answer = client.answer()
        assert answer is not None
        assert answer["ok"], "a worktree is often removed before its last event is here"
    assert len(place.log_lines("capture_of_another_workspace")) == 1


def test_a_worktree_is_told_what_its_repository_knows(place: Place) -> None:
    made = whose_folders.new_repository(place.root / "repo")
    whose_folders.git("worktree", "add", "-q", place.root / "linked", cwd=made)
    with standing_in(place, made):
        work_was_done(place)
        told = place.hook(session_start() | {"session_id": "x"}, {"CLAUDE_PROJECT_DIR": str(place.root / "linked")})
        assert DONE.encode() in told.out
        place.wait_for_couriers()


def test_the_spool_keeps_a_frame_where_its_folder_belongs(place: Place) -> None:
    """A courier may bring frames that hooks of another folder have handed to it."""
    stranger = place.root / "stranger"
    stranger.mkdir()
    frames = frame_from(str(stranger), tool_call(1)) + frame_from(str(place.folder), tool_call(2))
    frames += frame_from(str(place.root / "gone"), tool_call(3))
    command = [sys.executable, "-I", "-m", "siftd", "spool", "--folder", str(place.folder)]
    subprocess.run(command, input=frames, env=place.env, cwd="/", check=True)
    assert len(place.spool_files()) == 2
    with standing_in(place, stranger):
        [file] = place.spool_files()
        assert b"target-1" in file.read_bytes()


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_commondir_that_is_no_file_keeps_no_hook_waiting(place: Place, kind: str) -> None:
    case = getattr(whose_folders, f"commondir_that_is_a_{kind}")(place.root / "made")
    with standing_in(place, case.folder):
        ensure_daemon(place.paths, str(place.folder), place.env).close()
        assert place.hook(tool_call(1)).is_silent
        assert place.settle() == 1


@pytest.mark.slow
def test_a_folder_whose_name_is_not_utf8_has_a_memory(place: Place) -> None:
    folder = place.root / os.fsdecode(b"caf\xe9 \xff")
    folder.mkdir()
    with standing_in(place, folder):
        ensure_daemon(place.paths, str(place.folder), place.env).close()
        place.capture(7001, sessionId="earlier")
        place.ask("drain")
        assert DONE.encode() in place.hook(session_start()).out
        assert place.hook(tool_call(1)).is_silent
        assert place.settle() == 2
        assert place.ask("hello")["workspace"]["root"] == f"file://{place.root}/caf%E9%20%FF"
        assert place.rows("SELECT value FROM meta WHERE key = 'root'") == [(f"file://{place.root}/caf%E9%20%FF",)]
        mem = [sys.executable, "-c", "import sys; from siftd.cli import run; sys.exit(run(sys.argv[1:]))"]
        refused = subprocess.run([*mem, "exclude", "."], cwd=folder, env=place.env, capture_output=True, check=False)
        assert (refused.returncode, b"not UTF-8" in refused.stderr) == (2, True)
        place.stop(hold=True)
        assert place.hook(tool_call(2)).is_silent
        wait_until("it is spooled", place.spool_files)
        Path(place.paths.hold).unlink()
        ensure_daemon(place.paths, str(place.folder), place.env).close()
        assert place.settle() == 3
