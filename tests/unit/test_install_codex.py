"""Codex wired and taken out again, and what `mem doctor` says of its trust."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from siftd.clients.client import Where
from siftd.clients.codex.installer import EVENTS, CodexInstaller
from siftd.clients.codex.trust import hash_of
from siftd.errors import SettingsUnreadable
from siftd.resources import server_entry

SERVER = server_entry()
HOOKS = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}], "Other": []}}\n'
CONFIGURATION = '# mine\nmodel = "gpt-5.5"  # the small one\n\n[mcp_servers.other]\ncommand = "x"\n'


@pytest.fixture
def where(tmp_path: Path) -> Where:
    (tmp_path / ".codex").mkdir()
    launcher = tmp_path / ".siftd" / "default" / "hook.sh"
    launcher.parent.mkdir(parents=True)
    launcher.write_text("exit 0\n")
    return Where(str(tmp_path / "work"), {}, str(tmp_path), str(tmp_path / ".siftd" / "install.json"), str(launcher))


def codex_file(where: Where, name: str) -> Path:
    return Path(where.user_home) / ".codex" / name


def install(where: Where) -> None:
    CodexInstaller().install(where, is_project=False, server=SERVER)


def findings(where: Where) -> list[tuple[str, str, str]]:
    return [(each.link, each.state, each.message) for each in CodexInstaller().check(where)]


def trust(where: Where, **changed: Any) -> None:
    """Have Codex trust every entry, as a person does in its dialog, as it was before it was `changed`."""
    told = []
    for event, groups in json.loads(codex_file(where, "hooks.json").read_text())["hooks"].items():
        snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")
        for number, group in enumerate(groups):
            key = f"{codex_file(where, 'hooks.json')}:{snake}:{number}:0"
            trusted = hash_of(event, group, group["hooks"][0] | changed)
            told.append(f'[hooks.state."{key}"]\ntrusted_hash = "{trusted}"\n')
    with codex_file(where, "config.toml").open("a") as file:
        file.write("\n" + "\n".join(told))


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"hooks.json": HOOKS, "config.toml": CONFIGURATION},
        {"hooks.json": "", "config.toml": CONFIGURATION.rstrip()},
    ],
)
def test_what_was_there_comes_back_byte_for_byte(where: Where, files: dict[str, str]) -> None:
    for name, text in files.items():
        codex_file(where, name).write_text(text)
    install(where)
    install(where)
    CodexInstaller().uninstall(where, is_project=False)
    assert {path.name: path.read_text() for path in codex_file(where, "x").parent.iterdir()} == files


def test_ours_is_a_group_of_its_own_behind_all_others(where: Where) -> None:
    codex_file(where, "hooks.json").write_text(HOOKS)
    install(where)
    hooks = json.loads(codex_file(where, "hooks.json").read_text())["hooks"]
    assert set(hooks) == {*EVENTS, "Other"}
    theirs, ours = hooks["Stop"]
    assert theirs == json.loads(HOOKS)["hooks"]["Stop"][0]
    assert "siftd_client=codex; siftd_how=quiet; " in ours["hooks"][0]["command"]
    assert [hooks[event][-1]["hooks"][0]["timeout"] for event in ("Stop", "SessionEnd")] == [5, 3]
    assert "quiet" not in str(hooks["SessionStart"]) + str(hooks["UserPromptSubmit"])


@pytest.mark.parametrize(("name", "text"), [("hooks.json", "{broken"), ("config.toml", "= broken")])
def test_a_file_that_does_not_parse_is_refused_and_nothing_is_touched(where: Where, name: str, text: str) -> None:
    codex_file(where, name).write_text(text)
    with pytest.raises(SettingsUnreadable):
        install(where)
    assert [(each.name, each.read_text()) for each in codex_file(where, "x").parent.iterdir()] == [(name, text)]


def test_codex_home_moves_all(where: Where, tmp_path: Path) -> None:
    moved = where._replace(environ={"CODEX_HOME": str(tmp_path / "elsewhere")})
    install(moved)
    assert (tmp_path / "elsewhere" / "hooks.json").exists()
    assert not codex_file(where, "hooks.json").exists()


def test_doctor_says_that_codex_was_not_asked_yet(where: Where) -> None:
    install(where)
    assert ("trust", "problem") in [each[:2] for each in findings(where)]
    assert any("was not asked yet" in message and "PostToolUse" in message for *_, message in findings(where))


def test_doctor_compares_what_was_trusted(where: Where) -> None:
    install(where)
    trust(where)
    assert ("trust", "ok", "Codex trusts our hooks") in findings(where)
    assert not [each for each in findings(where) if each[1] == "problem"]


def test_doctor_sees_that_other_hooks_were_trusted(where: Where) -> None:
    install(where)
    trust(where, command="what it was before")
    assert any(link == "trust" and "trusts other hooks" in message for link, _, message in findings(where))


def test_doctor_sees_hooks_that_are_switched_off(where: Where) -> None:
    codex_file(where, "config.toml").write_text("[features]\nhooks = false\n")
    install(where)
    assert any(link == "trust" and "switched off" in message for link, _, message in findings(where))
