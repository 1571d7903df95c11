"""A clone whose files of settings are links, pipes and devices, and one that holds a great many files; real daemons."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from daemons import Place, session_start, tool_call, wait_until
from test_whose_folder import standing_in
from whose_folders import new_repository

from siftd.wire.frames import encode_hook

SECRET = "tr0ub4dor&3horse"
DEEP = "zk-4f9c2e7bQ1"
KILOBYTES_MAX = 400 * 1024
"""A daemon that reads a device without an end takes all the memory there is."""

PEAK_OF_A_COMMAND = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""Said by a small process in between: Linux counts what the starting process had in use as the command's own."""


def hostile_clone(folder: Path) -> Path:
    made = new_repository(folder)
    for entry in (made / "worktrees" / "a", made / ".git" / "worktrees" / "a"):
        entry.mkdir(parents=True)
        (entry / "gitdir").symlink_to("/dev/zero")
    os.mkfifo(made / ".env")
    os.mkfifo(made / ".git" / "commondir")
    for name in (".env.local", "terraform.tfstate", "credentials", "application.yml", ".npmrc"):
        (made / name).symlink_to("/dev/zero")
    (made / "config").symlink_to("/dev")
    (made / "secrets.yaml").write_text(f"db_password: {SECRET}\n")
    return made


def most_kilobytes(pid: int) -> int:
    [line] = [each for each in Path(f"/proc/{pid}/status").read_text().splitlines() if each.startswith("VmHWM:")]
    return int(line.split()[1])


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a process's peak of memory is read from /proc")
def test_a_clone_of_devices_and_pipes_is_captured_in_like_any_other(place: Place) -> None:
    made = hostile_clone(place.root / "clone")
    with standing_in(place, made):
        assert place.hook(session_start()).is_silent
        assert place.hook(tool_call(1, tool_response={"stdout": f"it is {SECRET} now"})).is_silent
        assert place.settle() == 1
        pid = place.pid()
        assert pid is not None
        assert place.hook(tool_call(2, tool_input={"file_path": f"{made}/config/x"})).is_silent
        assert place.settle() == 2
        assert most_kilobytes(pid) < KILOBYTES_MAX
        place.stop(hold=True)
        frame = encode_hook(
            json.dumps({"client": "claude-code", "frameUid": "ab" * 16, "root": str(made), "ts": 1}).encode(),
            json.dumps(tool_call(3, tool_response={"stdout": f"it is {SECRET} now"})).encode(),
        )
        command = [sys.executable, "-I", "-m", "siftd", "spool", "--folder", str(made)]
        asked = [sys.executable, "-I", "-c", PEAK_OF_A_COMMAND, *command]
        spool = subprocess.run(asked, input=frame, stdout=subprocess.PIPE, env=place.env, cwd="/", check=True)
        assert int(spool.stdout) < KILOBYTES_MAX
        assert len(place.spool_files()) == 1
        assert SECRET.encode() not in place.bytes_at_rest()


def test_the_settings_of_the_folder_that_a_tool_reads_are_known_in_a_workspace_of_many(place: Place) -> None:
    made = place.root / "made"
    for number in range(1_500):
        (made / "packages" / f"p{number:04}" / "src").mkdir(parents=True)
    (made / ".env").write_text(f"DB_PASSWORD={SECRET}\n")
    (made / "packages" / "p1499" / ".env").write_text(f"API_TOKEN={DEEP}\n")
    with standing_in(place, made):
        called = {"tool_input": {"file_path": f"{made}/packages/p1499/x"}, "tool_name": "Read", "cwd": str(made)}
        said = {"tool_response": {"content": f"one {SECRET} and two {DEEP}"}}
        assert place.hook(tool_call(1, **called, **said)).is_silent, "the first frame of all: a courier spools it"
        assert place.settle() == 1
        assert place.hook(tool_call(2, **called, **said)).is_silent
        wait_until("it is stored", lambda: place.count_events() == 2)
        assert SECRET.encode() not in place.bytes_at_rest()
        assert DEEP.encode() not in place.bytes_at_rest()
