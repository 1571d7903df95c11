"""What is written into the settings of Gemini CLI, Qwen Code and Kimi Code, and taken out again."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from siftd.clients.client import Where
from siftd.clients.installable import INSTALLABLE

SERVER = {"command": "/usr/bin/python3", "args": ["-I", "/s/siftd/__main__.py", "mcp"]}
FILES = {
    "gemini-cli": {".gemini/settings.json": '{\n  // mine\n  "theme": "dark",\n  "hooks": {"AfterTool": []}\n}\n'},
    "qwen-code": {".qwen/settings.json": '{"security": {"auth": {"apiKey": "x"}}}'},
    "kimi-code": {".kimi-code/config.toml": 'default_model = "m"  # mine\n[providers.p]\napi_key = "x"\n'},
}
NEVER = {"PreCompress", "BeforeModel", "AfterModel", "BeforeToolSelection", "BeforeTool", "PreToolUse", "Notification"}


def where_of(root: Path) -> Where:
    return Where(str(root / "work"), {"PATH": ""}, str(root), str(root / "manifest.json"), str(root / "s" / "hook.sh"))


def tree(root: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(root.rglob("*"))}


@pytest.mark.parametrize("client", FILES)
@pytest.mark.parametrize("has_files", [True, False])
def test_every_byte_comes_back(client: str, has_files: bool, tmp_path: Path) -> None:
    for name, text in FILES[client].items() if has_files else ():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    before, where = tree(tmp_path), where_of(tmp_path)
    _, installer = INSTALLABLE[client]
    installer.install(where, is_project=False, server=SERVER)
    wired = tree(tmp_path)
    assert {each.what for each in installer.install(where, is_project=False, server=SERVER)} == {"unchanged"}
    assert tree(tmp_path) == wired
    installer.uninstall(where, is_project=False)
    assert tree(tmp_path) == before


def wired(client: str, root: Path) -> tuple[dict[str, list[dict[str, Any]]], dict[str, Any]]:
    """Return the handlers of each event, and the entry of our tools."""
    INSTALLABLE[client][1].install(where_of(root), is_project=False, server=SERVER)
    if client == "kimi-code":
        rows = tomllib.loads((root / ".kimi-code/config.toml").read_text())["hooks"]
        servers = json.loads((root / ".kimi-code/mcp.json").read_bytes())
        return {row["event"]: [row] for row in rows}, servers["mcpServers"]["siftd"]
    settings = json.loads((root / next(iter(FILES[client]))).read_bytes())
    hooks = {event: groups[0]["hooks"] for event, groups in settings["hooks"].items()}
    return hooks, settings["mcpServers"]["siftd"]


@pytest.mark.parametrize(("client", "timeout"), [("gemini-cli", 5_000), ("qwen-code", 5), ("kimi-code", 5)])
def test_hooks_have_the_client_s_unit_of_time_and_print_where_something_reaches_the_agent(
    client: str, timeout: int, tmp_path: Path
) -> None:
    hooks, server = wired(client, tmp_path)
    assert server == SERVER
    assert not hooks.keys() & NEVER
    assert {handler["timeout"] for handlers in hooks.values() for handler in handlers} == {timeout}
    printing = {event for event, handlers in hooks.items() if "siftd_how=quiet" not in handlers[0]["command"]}
    assert (
        printing
        == {
            "gemini-cli": {"SessionStart", "BeforeAgent"},
            "qwen-code": {"SessionStart", "UserPromptSubmit", "PostToolUseFailure"},
            "kimi-code": {"UserPromptSubmit"},
        }[client]
    )


def test_a_project_of_its_own_can_be_wired_where_the_client_reads_one(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    INSTALLABLE["gemini-cli"][1].install(where_of(tmp_path), is_project=True, server=None)
    settings = json.loads((tmp_path / "work/.gemini/settings.json").read_bytes())
    assert settings.keys() == {"hooks"}
    assert not (tmp_path / ".gemini").exists()


def test_antigravity_is_given_a_named_set_of_hooks_and_nothing_that_decides(tmp_path: Path) -> None:
    config = tmp_path / ".gemini" / "config"
    config.mkdir(parents=True)
    (config / "hooks.json").write_text('{"mine": {"Stop": [{"type": "command", "command": "true"}]}}')
    before, (_, installer) = tree(tmp_path), INSTALLABLE["antigravity"]
    installer.install(where_of(tmp_path), is_project=False, server=SERVER)
    hooks = json.loads((config / "hooks.json").read_bytes())
    assert hooks.keys() == {"mine", "siftd"}
    assert hooks["siftd"].keys() == {"PreInvocation", "PostToolUse", "Stop"}
    assert "quiet" not in hooks["siftd"]["PreInvocation"][0]["command"]
    assert hooks["siftd"]["PostToolUse"][0]["matcher"] == "*"
    assert json.loads((config / "mcp_config.json").read_bytes())["mcpServers"]["siftd"] == SERVER
    installer.uninstall(where_of(tmp_path), is_project=False)
    assert tree(tmp_path) == before


def test_a_link_to_the_file_of_hooks_stays_a_link(tmp_path: Path) -> None:
    config, old = tmp_path / ".gemini" / "config", tmp_path / ".gemini" / "antigravity-cli"
    for folder in (config, old):
        folder.mkdir(parents=True)
    (old / "hooks.json").write_text("{}")
    (config / "hooks.json").symlink_to(old / "hooks.json")
    before, (_, installer) = tree(tmp_path), INSTALLABLE["antigravity"]
    installer.install(where_of(tmp_path), is_project=False, server=None)
    assert (config / "hooks.json").is_symlink()
    assert "siftd" in json.loads((old / "hooks.json").read_bytes())
    installer.uninstall(where_of(tmp_path), is_project=False)
    assert tree(tmp_path) == before
