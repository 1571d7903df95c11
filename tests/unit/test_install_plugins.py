"""Wiring agents that read a folder: files of our own, our tools where they take any, and every byte given back."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from siftd.clients.client import Where
from siftd.clients.cline.wiring import ClineInstaller
from siftd.clients.opencode.wiring import OpenCodeInstaller
from siftd.clients.pi.wiring import PiInstaller
from siftd.errors import SettingsUnreadable
from siftd.install.edits import OWN_MARK
from siftd.resources import server_entry

SERVER = server_entry("default")
MINE = b"""// mine
{
  "model": "mock/scripted", // the only one
  "mcp": {"other": {"type": "local", "command": ["x"]}}
}
"""


@pytest.fixture
def where(tmp_path: Path) -> Where:
    launcher = tmp_path / ".siftd" / "default" / "hook.sh"
    launcher.parent.mkdir(parents=True)
    launcher.write_text(":\n")
    manifest = str(launcher.with_name("install.json"))
    return Where(str(tmp_path / "work"), {"PATH": ""}, str(tmp_path), manifest, str(launcher))


@pytest.mark.parametrize("name", ["opencode.json", "opencode.jsonc"])
def test_opencode_gets_a_plugin_and_our_tools_and_gives_every_byte_back(
    where: Where, tmp_path: Path, name: str
) -> None:
    config = tmp_path / ".config" / "opencode" / name
    config.parent.mkdir(parents=True)
    config.write_bytes(MINE)
    installer = OpenCodeInstaller()
    installer.install(where, is_project=False, server=SERVER)
    plugin = config.parent / "plugins" / "siftd.js"
    text = plugin.read_text()
    assert OWN_MARK in text.splitlines()[0]
    assert json.dumps(installer.command(where)) in text
    assert "@COMMAND@" not in text
    entry = '"siftd": {'
    assert entry in config.read_text()
    assert "// the only one" in config.read_text()
    (waits,) = [each for each in installer.check(where) if each.state != "ok"]
    assert "has not fetched its package for plugins" in waits.message
    (config.parent / "node_modules" / "@opencode-ai" / "plugin").mkdir(parents=True)
    assert [each.message for each in installer.check(where) if each.state != "ok"] == []
    again = installer.install(where, is_project=False, server=SERVER)
    assert {each.what for each in again} == {"unchanged"}
    installer.uninstall(where, is_project=False)
    assert config.read_bytes() == MINE
    assert not plugin.exists()


def test_opencode_s_entry_names_our_server_as_it_wants_it(where: Where, tmp_path: Path) -> None:
    OpenCodeInstaller().install(where, is_project=False, server=SERVER)
    config = json.loads((tmp_path / ".config" / "opencode" / "opencode.json").read_text())
    assert config == {
        "$schema": "https://opencode.ai/config.json",
        "mcp": {"siftd": {"type": "local", "command": [SERVER["command"], *SERVER["args"]], "enabled": True}},
    }
    OpenCodeInstaller().uninstall(where, is_project=False)
    assert not (tmp_path / ".config" / "opencode" / "opencode.json").exists()


def test_folders_that_a_person_has_moved_are_found(where: Where, tmp_path: Path) -> None:
    moved = where._replace(environ={"XDG_CONFIG_HOME": f"{tmp_path}/c", "PI_CODING_AGENT_DIR": f"{tmp_path}/p"})
    OpenCodeInstaller().install(moved, is_project=False, server=None)
    PiInstaller().install(moved, is_project=False, server=None)
    assert (tmp_path / "c" / "opencode" / "plugins" / "siftd.js").exists()
    assert (tmp_path / "p" / "extensions" / "siftd.ts").exists()


def test_pi_gets_an_extension_alone_and_gives_it_back(where: Where, tmp_path: Path) -> None:
    installer = PiInstaller()
    changes = installer.install(where, is_project=False, server=SERVER)
    file = tmp_path / ".pi" / "agent" / "extensions" / "siftd.ts"
    assert [each.path for each in changes] == [str(file)]
    assert json.dumps(installer.command(where)) in file.read_text()
    installer.uninstall(where, is_project=False)
    assert not file.exists()


def test_a_file_of_a_person_s_own_by_our_name_is_left_alone(where: Where, tmp_path: Path) -> None:
    file = tmp_path / ".pi" / "agent" / "extensions" / "siftd.ts"
    file.parent.mkdir(parents=True)
    file.write_text("// mine\n")
    with pytest.raises(SettingsUnreadable):
        PiInstaller().install(where, is_project=False, server=None)
    assert file.read_text() == "// mine\n"


def test_cline_gets_an_executable_for_each_event_and_our_tools(where: Where, tmp_path: Path) -> None:
    installer = ClineInstaller()
    installer.install(where, is_project=False, server=SERVER)
    hooks = tmp_path / ".cline" / "hooks"
    names = {"TaskStart.sh", "UserPromptSubmit.sh", "PostToolUse.sh", "TaskComplete.sh", "SessionShutdown.sh"}
    assert {each.name for each in hooks.iterdir()} == names
    assert all(os.access(each, os.X_OK) for each in hooks.iterdir())
    assert installer.command(where) in (hooks / "UserPromptSubmit.sh").read_text()
    assert installer.command(where, "quiet") in (hooks / "PostToolUse.sh").read_text()
    servers = json.loads((tmp_path / ".cline" / "data" / "settings" / "cline_mcp_settings.json").read_text())
    assert servers == {"mcpServers": {"siftd": {"transport": {"type": "stdio", **SERVER}}}}
    assert [each.message for each in installer.check(where) if each.state != "ok"] == []
    done = subprocess.run([hooks / "PostToolUse.sh"], input=b"{}", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
    installer.uninstall(where, is_project=False)
    assert not (tmp_path / ".cline").exists() or [*hooks.iterdir()] == []


def test_a_hook_of_a_person_s_own_is_left_alone_and_nothing_else_is_written(where: Where, tmp_path: Path) -> None:
    mine = tmp_path / ".cline" / "hooks" / "PostToolUse.sh"
    mine.parent.mkdir(parents=True)
    mine.write_text("#!/bin/sh\n")
    with pytest.raises(SettingsUnreadable):
        ClineInstaller().install(where, is_project=False, server=SERVER)
    assert [each.name for each in mine.parent.iterdir()] == ["PostToolUse.sh"]
    assert mine.read_text() == "#!/bin/sh\n"
