"""`mem notes` and `mem note` as a person runs them: real commands, a real daemon's store, a real Claude Code."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from claude_code import client_environment, require_claude
from daemons import Place, tool_call, wait_until
from scripted_api import Block, Script, ScriptedApi, say

from siftd.workspace.identity import find_workspace


def mem(place: Place, *arguments: str, env: Mapping[str, str] | None = None, given: str = "") -> tuple[int, str, str]:
    """Run `mem` in the place's folder; return its status and what it printed."""
    done = subprocess.run(
        [Path(sys.executable).with_name("mem"), *arguments],
        cwd=place.folder,
        env=place.env | dict(env or {}),
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def notes_of(place: Place) -> Path:
    return Path(json.loads(mem(place, "notes", "status", "--json")[1])["projects"][0]["folder"])


def test_nothing_is_written_into_the_work_tree_until_a_person_asks(place: Place) -> None:
    place.start()
    place.capture()
    assert mem(place, "notes", "sync")[0] == 2
    assert mem(place, "notes", "sweep")[0] == 0
    assert list(place.folder.iterdir()) == []
    assert mem(place, "notes", "init")[0] == 0
    assert list(place.folder.iterdir()) == []
    assert str(notes_of(place)).startswith(str(place.home))


def test_notes_in_the_tree_are_made_only_where_a_person_says_so(place: Place) -> None:
    status, said, _ = mem(place, "notes", "init", "--in-tree", "--name", "Demo")
    assert status == 0
    assert "Demo: notes in" in said
    assert sorted(path.name for path in (place.folder / ".memory").iterdir()) == [
        ".model", "archive", "decisions.md", "inbox", "mistakes.md", "state.md", "todo.md"
    ]  # fmt: skip
    before = {path: path.read_bytes() for path in place.folder.rglob("*") if path.is_file()}
    assert mem(place, "notes", "init", "--in-tree")[0] == 0
    assert {path: path.read_bytes() for path in place.folder.rglob("*") if path.is_file()} == before
    shutil.rmtree(place.folder / ".memory")


def test_a_dropped_note_is_in_the_notes_after_a_sync(place: Place) -> None:
    mem(place, "notes", "init")
    assert mem(place, "note", "The release waits for the licence")[0] == 0
    assert mem(place, "note", given="and for the lawyers\n")[0] == 0
    assert json.loads(mem(place, "notes", "status", "--json")[1])["projects"][0]["unread"] == 2
    assert mem(place, "notes", "sync")[0] == 0
    text = "".join(path.read_text() for path in notes_of(place).glob("*.md"))
    assert "The release waits for the licence" in text
    assert "and for the lawyers" in text
    assert mem(place, "notes", "sync")[0] == 1


def test_a_note_is_redacted_before_it_is_written(place: Place) -> None:
    mem(place, "notes", "init")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert mem(place, "note", f"the token is {secret}")[0] == 0
    assert secret.encode() not in place.bytes_at_rest()


def test_a_note_for_no_project_says_what_to_do(place: Place) -> None:
    status, _, said = mem(place, "note", "hello")
    assert status == 2
    assert "`mem notes init`" in said


def test_an_excluded_folder_has_no_notes_from_then_on(place: Place) -> None:
    mem(place, "notes", "init")
    assert mem(place, "notes", "exclude")[0] == 0
    assert json.loads(mem(place, "notes", "status", "--json")[1])["projects"] == []
    assert mem(place, "notes", "init")[0] == 2


def test_the_sweep_needs_no_daemon_and_offers_what_has_no_notes(place: Place) -> None:
    subprocess.run(["git", "init", "-q"], cwd=place.folder, check=True)
    place.paths = place.paths.home.for_workspace(find_workspace(str(place.folder)).key)
    place.start()
    place.hook(tool_call(cwd=str(place.folder)))
    place.stop(hold=True)
    status, _, said = mem(place, "notes", "sweep")
    assert status == 0
    assert f"`mem notes init {place.folder}`" in said
    assert not (place.folder / ".memory").exists()
    assert place.pid() is None
    shutil.rmtree(place.folder / ".git")


class Curating(Script):
    """Answers a curator's prompt with edits, as JSON in prose; remembers nothing."""

    def turn_for(self, request: dict[str, Any]) -> list[Block]:
        edits = {
            "summary": "What the build needs.",
            "state_body": "# State\n\n- The build runs with `make target-7`.",
            "mistakes_new_entries": [],
            "archive_entries": None,
        }
        return [say(f"Here are the edits:\n{json.dumps(edits)}")] if "Digest:" in json.dumps(request) else [say("ok")]


@pytest.mark.slow
def test_a_real_claude_code_curates_and_is_not_captured_itself(place: Place) -> None:
    claude = require_claude()
    programs = place.root / ".local" / "bin"
    programs.mkdir(parents=True)
    (programs / "claude").symlink_to(claude)
    place.configure(notes__curate=True, memory__dailyTokenCap=1_000_000)
    mem(place, "install", "--client", "claude-code")
    place.start()
    mem(place, "notes", "init")
    place.hook(tool_call(7, cwd=str(place.folder)))
    wait_until("the call is in the store", place.count_events)
    with ScriptedApi(Curating(main=[])) as api:
        own = place.root / ".claude" / "settings.json"  # of the environment nothing reaches a curator
        variables = {name: value for name, value in client_environment(place.root, api.url).items() if name.isupper()}
        del variables["PATH"], variables["HOME"]
        own.write_text(json.dumps(json.loads(own.read_text()) | {"env": variables}))
        status, said, problem = mem(place, "notes", "sync", "--trigger", "session-end")
    assert status == 0, (said, problem)
    assert "What the build needs." in said
    assert "- The build runs with `make target-7`." in (notes_of(place) / "state.md").read_text()
    asked = [request for request in api.requests if "Digest:" in json.dumps(request)]
    assert len(asked) == 1
    assert "make target-7" in json.dumps(asked[0])
    assert not asked[0].get("tools")
    assert place.count_events() == 1
    assert not list((place.root / ".claude" / "projects").rglob("*.jsonl"))
