"""`mem` where nothing is, in every workspace at once, and without a daemon: looking costs nothing and makes nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from siftd.cli import DONE, MISUSED, run
from siftd.errors import DaemonUnreachable
from siftd.wire.client import connect
from siftd.wire.launch import ensure_daemon
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home
from siftd.workspaces.stopping import end_borrowed, stop_and_hold

pytestmark = pytest.mark.slow


class Person:
    """Somebody with a home and two projects."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = Home(str(root / "home"))
        self.claude = root / "claude"
        self.one, self.other = root / "one", root / "other"
        for folder in (self.one, self.other):
            folder.mkdir()
        self._capsys = capsys

    def mem(self, *arguments: str) -> tuple[int, str, str]:
        status = run(arguments)
        return (status, *self._capsys.readouterr())

    def runs(self, folder: Path) -> bool:
        try:
            connect(self.home.for_workspace(find_workspace(str(folder)).key)).close()
        except DaemonUnreachable:
            return False
        return True

    def capture(self, folder: Path, session: str, said: str) -> None:
        paths = self.home.for_workspace(find_workspace(str(folder)).key)
        with ensure_daemon(paths, str(folder), os.environ) as client:
            for tool, payload in (("UserPromptSubmit", {"prompt": "Why?"}), ("Stop", {"last_assistant_message": said})):
                event = {"kind": "capture", "sessionId": session, "tool": tool, "payload": payload}
                client.request(event | {"ts": 1_760_000_000_000}, timeout=5)
            client.request({"kind": "drain"}, timeout=30)

    def transcript(self, folder: Path, session: str, said: str) -> None:
        lines: list[dict[str, Any]] = [
            {"type": "user", "message": {"role": "user", "content": "Why does it fail?"}},
            {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": said}]}},
        ]
        common = {"sessionId": session, "cwd": str(folder), "isSidechain": False, "version": "2.1.0"}
        file = self.claude / "projects" / folder.name / f"{session}.jsonl"
        file.parent.mkdir(parents=True)
        with file.open("w") as out:
            for number, line in enumerate(lines):
                more = {"uuid": f"{session}-{number}", "timestamp": f"2026-02-1{number}T10:00:00.000Z"}
                out.write(json.dumps(line | common | more) + "\n")
        os.utime(file, (1_770_000_000, 1_770_000_000))


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Person]:
    for name in [name for name in os.environ if name.startswith(("SIFTD_", "CLAUDE"))]:
        monkeypatch.delenv(name)
    made = Person(tmp_path, capsys)
    monkeypatch.setenv("SIFTD_HOME", made.home.root)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(made.claude))
    monkeypatch.setenv("HOME", str(tmp_path / "person"))  # clients are found there, and wired
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.chdir(made.one)
    yield made
    for folder in (made.one, made.other):
        stop_and_hold(made.home.for_workspace(find_workspace(str(folder)).key))


@pytest.mark.parametrize(
    "words",
    ["search foo", "timeline", "sessions", "memories", "facts", "conversations", "injections", "brief", "pins", "stats",
     "tail --once", "info", "search foo --all"],
)  # fmt: skip
def test_a_look_at_an_empty_folder_starts_nothing_and_makes_nothing(person: Person, words: str) -> None:
    status, _, told = person.mem(*words.split())
    assert status == DONE
    assert told
    assert not person.runs(person.one)
    assert not Path(person.home.workspaces).exists()


def test_the_memories_for_every_project_have_a_workspace_that_no_folder_stands_for(person: Person) -> None:
    assert person.mem("--workspace", "_global", "memories")[0] == DONE
    assert not Path(person.home.workspaces).exists()


def test_siftd_is_taken_out_of_one_project_alone(person: Person) -> None:
    person.mem("install")
    person.mem("install", "--project")
    local = person.one / ".claude" / "settings.local.json"
    assert local.exists()
    assert person.mem("uninstall", "--project")[0] == DONE
    assert not local.exists()
    assert "hooks/hook.py" in (person.claude / "settings.json").read_text()
    assert "siftd" in json.loads((person.claude / ".claude.json").read_text())["mcpServers"]
    assert person.mem("uninstall", "--project", "--purge")[0] == MISUSED


@pytest.mark.parametrize("words", ["show e1", "timeline e1", "timeline --session abc", "session abc", "why s1"])
def test_what_is_named_in_an_empty_folder_is_not_there(person: Person, words: str) -> None:
    assert person.mem(*words.split())[0] == MISUSED
    assert not Path(person.home.workspaces).exists()


def test_a_folder_that_is_not_there_is_refused(person: Person) -> None:
    status, _, told = person.mem("--workspace", str(person.one / "nowhere"), "info")
    assert status == MISUSED
    assert "there is no such folder" in told


def test_every_workspace_is_asked_and_no_daemon_is_left_that_was_not_there(person: Person) -> None:
    person.capture(person.one, "first", "The zephyr broker drops connections after ninety seconds.")
    person.capture(person.other, "second", "The zephyr client retries seven times.")
    end_borrowed(person.home.for_workspace(find_workspace(str(person.other)).key))
    assert not person.runs(person.other)

    status, out, _ = person.mem("search", "--all", "--json", "zephyr")

    assert status == DONE
    found = {hit["workspace"]: hit["text"] for hit in json.loads(out)["hits"]}
    assert "ninety seconds" in found[str(person.one)]
    assert "seven times" in found[str(person.other)]
    assert person.runs(person.one), "it ran before"
    assert not person.runs(person.other)


def test_all_projects_are_filled_each_into_its_own_memory(person: Person) -> None:
    person.transcript(person.one, "aaaa", "The cache was never cleared.")
    person.transcript(person.other, "bbbb", "The queue was full.")
    gone = person.one.parent / "gone"
    person.transcript(gone, "cccc", "Nobody knows.")

    status, out, told = person.mem("backfill", "--all")

    assert status == DONE
    assert out.splitlines() == [
        str(person.one), "  1 session, 2026-02-10 to 2026-02-11: 2 scanned, 2 captured, 0 known already",
        str(person.other), "  1 session, 2026-02-10 to 2026-02-11: 2 scanned, 2 captured, 0 known already",
    ]  # fmt: skip
    assert "1 folder of earlier sessions are gone" in told
    assert not person.runs(person.one)
    assert "never cleared" in person.mem("timeline")[1]
    assert "queue was full" in person.mem("--workspace", str(person.other), "timeline")[1]


def test_what_is_captured_is_followed_and_counted_without_a_daemon(person: Person) -> None:
    person.capture(person.one, "first", "The zephyr broker drops connections.")
    stop_and_hold(person.home.for_workspace(find_workspace(str(person.one)).key))
    assert "zephyr" in person.mem("tail", "--once")[1]
    stats = json.loads(person.mem("stats", "--json")[1])
    assert [(day["events"], day["sessions"]) for day in stats["days"]] == [(2, 1)]
    assert {each["tool"] for each in stats["tools"]} == {"UserPromptSubmit", "Stop"}
    assert not person.runs(person.one)


def test_a_setting_is_written_where_it_is_and_taken_out_again(person: Person) -> None:
    file = Path(person.home.config)
    file.parent.mkdir(parents=True, mode=0o700)
    Path(person.home.root).chmod(0o700)
    file.write_text('{"recall": {"maxTokens": 400}}')
    assert person.mem("config", "recall.maxTokens", "500")[0] == DONE
    assert person.mem("config", "memory.backend", "ollama:llama3.2:3b")[0] == DONE
    assert json.loads(file.read_text()) == {"recall": {"maxTokens": 500}, "memory.backend": "ollama:llama3.2:3b"}
    assert person.mem("config", "recall.maxTokens", "many")[0] != DONE, "a value that is none changes nothing"
    assert person.mem("config", "--unset", "memory.backend")[0] == DONE
    assert json.loads(file.read_text()) == {"recall": {"maxTokens": 500}}
    assert "`mem config` lists them" in person.mem("config", "nope")[2]
