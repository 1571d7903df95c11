"""`mem install`, `mem uninstall`, `mem clients` and `mem doctor` where a person has several agents' programs."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from siftd.cli import DONE, MISUSED, run
from siftd.clients.installable import INSTALLABLE
from siftd.clients.registry import CLIENTS
from siftd.clients.tools_only.table import TOOLS_ONLY

pytestmark = pytest.mark.slow


class Person:
    """Somebody with a home and a project, and nothing on the PATH."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home, self.project = root / "person", root / "project"
        for folder in (self.home, self.project, root / "bin"):
            folder.mkdir()
        self.claude = self.home / ".claude" / "settings.json"
        self.kiro = self.home / ".kiro" / "settings" / "mcp.json"
        self._capsys = capsys

    def mem(self, *arguments: str) -> tuple[int, str, str]:
        status = run(arguments)
        return (status, *self._capsys.readouterr())

    def has(self, *folders: str) -> None:
        for folder in folders:
            (self.home / folder).mkdir(parents=True)

    def wired(self) -> set[str]:
        return {
            row["name"] for row in json.loads(self.mem("clients", "--json")[1])["clients"] if row["state"] == "wired"
        }

    def tree(self) -> dict[str, bytes | None]:
        found = (path for path in self.home.rglob("*") if ".siftd" not in path.parts)
        return {str(path): path.read_bytes() if path.is_file() else None for path in found}


@pytest.fixture
def person(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Person:
    made = Person(tmp_path, capsys)
    for name in ("SIFTD_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(made.project)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return made


def types(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(line))


def test_with_no_agent_to_be_found_the_usual_one_is_wired(person: Person) -> None:
    assert person.mem("install")[0] == DONE
    assert person.claude.exists()
    assert person.wired() == {"claude-code"}


def test_those_that_are_found_are_wired_and_named_in_the_output(person: Person) -> None:
    person.has(".kiro", ".claude")
    before = person.tree()
    status, out, _ = person.mem("install")

    assert status == DONE
    assert "Kiro\n" in out
    assert "Claude Code\n" in out
    assert str(person.kiro) in out
    assert person.wired() == {"claude-code", "kiro"}
    assert person.mem("install")[1].count("unchanged") == 5
    assert person.mem("uninstall")[0] == DONE
    assert person.tree() == before


def test_only_what_is_found_is_wired(person: Person) -> None:
    person.has(".kiro")
    person.mem("install")

    assert person.wired() == {"kiro"}
    assert not person.claude.exists()
    _, out, _ = person.mem("doctor")
    assert "Kiro is wired to this siftd" in out
    assert "Claude Code" not in out


@pytest.mark.parametrize(
    ("line", "wired"),
    [("\n", {"claude-code", "kiro"}), ("2\n", {"kiro"}), ("kiro, claude-code", {"claude-code", "kiro"}), ("", None)],
)
def test_at_a_terminal_a_person_picks(
    person: Person, monkeypatch: pytest.MonkeyPatch, line: str, wired: set[str] | None
) -> None:
    person.has(".kiro", ".claude")
    types(monkeypatch, line)
    _, _, err = person.mem("install")

    assert "1  Claude Code (claude-code)" in err
    assert person.wired() == (wired if wired is not None else {"claude-code", "kiro"})


def test_a_pick_that_is_none_of_them_wires_nothing(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    person.has(".kiro", ".claude")
    types(monkeypatch, "emacs\n")

    assert person.mem("install")[0] == MISUSED
    assert person.wired() == set()


def test_clients_are_named_one_by_one_or_all_of_them(person: Person) -> None:
    assert person.mem("install", "--client", "kiro", "crush")[0] == DONE
    assert person.wired() == {"kiro", "crush"}
    before = person.tree()
    status, _, err = person.mem("install", "--client", "all")
    assert status != DONE
    assert "there is nothing of Aider to be wired" in err
    assert person.wired() == INSTALLABLE.keys() - {"aider"}

    person.mem("uninstall", "--client", *(INSTALLABLE.keys() - {"kiro", "crush"}))
    assert person.tree() == before
    person.mem("uninstall", "--client", "kiro", "crush")
    assert not any(path.name == "hook.sh" for path in person.home.rglob("*"))
    assert person.mem("install", "--client", "emacs")[0] == MISUSED


def test_a_client_that_cannot_be_wired_keeps_no_other_from_it(person: Person) -> None:
    person.has(".claude", ".kiro/settings")
    person.kiro.write_text("{")
    status, _, err = person.mem("install")

    assert status != DONE
    assert "not JSON" in err
    assert person.wired() == {"claude-code"}
    assert person.kiro.read_text() == "{"
    assert list(person.kiro.parent.parent.iterdir()) == [person.kiro.parent]


def test_a_client_that_cannot_be_taken_out_keeps_no_other_in(person: Person) -> None:
    person.has(".claude", ".kiro/settings")
    person.mem("install")
    person.kiro.write_text("{")
    status, _, err = person.mem("uninstall")

    assert status != DONE
    assert "Kiro: " in err
    assert person.wired() == {"kiro"}
    assert not person.claude.exists()
    assert person.kiro.read_text() == "{"


def test_for_one_project_those_are_wired_that_can_be(person: Person) -> None:
    person.has(".kiro", ".claude", ".config/amp")
    before = person.tree()
    assert person.mem("install", "--project")[0] == DONE
    assert (person.project / ".kiro" / "settings" / "mcp.json").exists()
    assert person.mem("install", "--project", "--client", "amp")[0] == MISUSED

    person.mem("uninstall", "--project")
    assert not (person.project / ".kiro").exists()
    assert not (person.project / ".claude").exists()
    person.mem("uninstall")
    assert person.tree() == before


@pytest.mark.parametrize("name", sorted(INSTALLABLE.keys() - {"aider"}))
def test_a_second_install_of_any_client_changes_nothing_and_the_doctor_finds_nothing(person: Person, name: str) -> None:
    before = person.tree()
    person.mem("install", "--client", name)
    wired = person.tree()
    changes = json.loads(person.mem("install", "--client", name, "--json")[1])["changes"]

    assert {each["what"] for each in changes} == {"unchanged"}
    assert person.tree() == wired
    checks = json.loads(person.mem("doctor", "--json")[1])["checks"]
    assert [each for each in checks if each["link"] in ("hooks", "tools") and each["state"] == "problem"] == []
    person.mem("uninstall", "--client", name)
    assert person.tree() == before


@pytest.mark.parametrize("client", [each for each in TOOLS_ONLY if each.name != "aider"], ids=lambda each: each.name)
def test_a_client_that_takes_tools_only_is_given_them_and_loses_them_without_a_trace(
    person: Person, client: Any
) -> None:
    before = person.tree()
    assert person.mem("install", "--client", client.name)[0] == DONE
    texts = {path: text.decode() for path, text in person.tree().items() if text is not None}
    servers = [text for path, text in texts.items() if path.endswith(".json")]
    assert len(servers) == (client.support.mcp == "yes")
    for text in servers:
        entry = next(_entries(json.loads(text)))
        assert (entry["command"], entry["args"][-1]) == (sys.executable, "mcp")
    assert client.name == "crush" or any("This project has a memory" in text for text in texts.values())

    person.mem("uninstall")
    assert person.tree() == before


def _entries(value: Mapping[str, Any]) -> Any:
    for key, each in value.items():
        if key == "siftd":
            yield each
        elif isinstance(each, dict):
            yield from _entries(each)


def test_clients_are_listed_with_what_can_be_done_with_each(person: Person) -> None:
    rows = {row["name"]: row for row in json.loads(person.mem("clients", "--json")[1])["clients"]}

    assert rows.keys() == CLIENTS.keys() | {each.name for each in TOOLS_ONLY}
    for name, client in CLIENTS.items():
        assert rows[name]["recall"] == ("prompt" in client.moments)
        assert rows[name]["backfill"] in (True, False)
    listed = person.mem("clients")[1]
    assert [name for name, row in rows.items() if row["client"] not in listed] == []
