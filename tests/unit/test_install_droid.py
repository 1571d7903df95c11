"""droid wired and taken out again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from siftd.clients.client import Where
from siftd.clients.droid.installer import EVENTS, DroidInstaller
from siftd.resources import server_entry

HOOKS = '{\n  // mine\n  "Stop": [{"matcher": "*", "hooks": [{"type": "command", "command": "true"}]}]\n}\n'
SERVERS = '{"mcpServers": {"other": {"type": "stdio", "command": "x"}}}'


@pytest.mark.parametrize("is_project", [False, True])
@pytest.mark.parametrize("files", [{}, {"hooks.json": HOOKS, "mcp.json": SERVERS}])
def test_events_stand_at_the_top_and_every_byte_comes_back(
    tmp_path: Path, files: dict[str, str], is_project: bool
) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    folder = (project if is_project else home) / ".factory"
    for each in (home, project, folder):
        each.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    where = Where(str(project), {}, str(home), str(tmp_path / "install.json"), str(tmp_path / "hook.sh"))
    (tmp_path / "hook.sh").write_text("exit 0\n")
    DroidInstaller().install(where, is_project=is_project, server=server_entry())
    hooks = json.loads((folder / "hooks.json").read_text().replace("// mine", ""))
    assert set(hooks) == {*EVENTS, *(["Stop"] if files else [])}
    assert hooks["SessionStart"][0]["hooks"][0]["command"].startswith("siftd_client=droid; test -r ")
    assert "quiet" in hooks["PostToolUse"][0]["hooks"][0]["command"]
    assert json.loads((folder / "mcp.json").read_text())["mcpServers"]["siftd"]["type"] == "stdio"
    if not is_project:
        assert [each.state for each in DroidInstaller().check(where)] == ["ok", "ok"]
    DroidInstaller().uninstall(where, is_project=is_project)
    assert {each.name: each.read_text() for each in folder.iterdir()} == files
