"""The wheel carries what it needs: installed into a fresh environment it captures, drains and finds."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest
from claude_code import require_claude
from daemons import wait_until

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).resolve().parents[2]
ENVELOPES = REPOSITORY / "tests" / "data" / "claude-code" / "envelopes.jsonl"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(REPOSITORY),
    ]
    subprocess.run(command, check=True)
    return next(folder.glob("siftd_memory-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment's bin folder, with nothing in it but the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
    subprocess.run([*pip, "install", "--quiet", "--no-compile", str(wheel)], check=True)
    return folder / "bin"


def test_the_wheel_carries_the_hooks_and_the_schema(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (
        "hooks/hook.py",
        "hooks/courier.py",
        "hooks/guard.py",
        "hooks/skills/save/SKILL.md",
        "schema/0001_store.sql",
    ):
        assert f"siftd/_data/{wanted}" in names
    assert "siftd/embed/word_table.bin" in names
    assert any(name.endswith("licenses/siftd/embed/word_table.LICENSE") for name in names), "whose it is goes with it"
    page = REPOSITORY / "siftd" / "web" / "page"
    files = [file.relative_to(REPOSITORY).as_posix() for file in page.rglob("*") if file.is_file()]
    assert [file for file in files if file not in names] == [], "the page is whole"
    assert any(name.endswith("licenses/siftd/web/page/vendor/uplot/uPlot.LICENSE") for name in names)
    assert not [name for name in names if "tests" in name or "__pycache__" in name]


def test_an_installed_wheel_captures_through_its_own_hook_and_finds_it(installed: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CLAUDE_PROJECT_DIR": str(workspace)}

    def mem(*arguments: str) -> Any:
        command = [str(installed / "mem"), *arguments, "--json"]
        return json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)

    hook = subprocess.run(
        [installed / "python", "-I", "-c", "from siftd.resources import hooks_folder; print(hooks_folder())"],
        env=environment, capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    assert str(installed.parent) in hook
    try:
        for line in ENVELOPES.read_bytes().splitlines():
            if json.loads(line)["hook_event_name"] != "PreToolUse":
                command = [str(installed / "python"), "-I", "-S", f"{hook}/hook.py"]
                subprocess.run(command, input=line, env=environment, check=True)
        mem("start")
        assert mem("drain")["errors"] == 0
        assert mem("search", "expired tokens")["hits"]
        assert mem("install")
        assert f"{hook}/hook.py" in (tmp_path / ".claude" / "settings.json").read_text()
    finally:
        subprocess.run([installed / "mem", "stop"], env=environment, capture_output=True, check=False)


@pytest.mark.real_client
def test_the_plugin_of_an_installed_wheel_is_installed_by_the_client_and_works(installed: Path, tmp_path: Path) -> None:
    """No shell's PATH leads to siftd: the plugin finds its interpreter where `uv tool` and `pipx` link to it."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    links = tmp_path / ".local" / "bin"
    links.mkdir(parents=True)
    (links / "siftd").symlink_to(installed / "siftd")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "CLAUDE_PROJECT_DIR": str(workspace)}
    told = subprocess.run(
        [installed / "mem", "install", "--plugin", "--json"],
        env=environment, capture_output=True, check=True, cwd=workspace,
    )  # fmt: skip
    client = require_claude()
    with_node = environment | {"PATH": os.environ["PATH"], "HTTPS_PROXY": "http://127.0.0.1:9"}
    for command in json.loads(told.stdout)["commands"]:
        done = subprocess.run(
            [client, *shlex.split(command)[1:]],
            env=with_node,
            cwd=workspace,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    (manifest,) = (tmp_path / ".claude" / "plugins" / "cache").glob("**/plugin.json")
    plugin = manifest.parent.parent
    validated = subprocess.run(
        [client, "plugin", "validate", str(plugin)], env=with_node, capture_output=True, text=True, check=False
    )
    assert validated.returncode == 0, validated.stdout + validated.stderr
    in_plugin = environment | {"CLAUDE_PLUGIN_ROOT": str(plugin)}
    hooks = json.loads((plugin / "hooks.json").read_text())["hooks"]
    try:
        for line in ENVELOPES.read_bytes().splitlines():
            if wired := hooks.get(json.loads(line)["hook_event_name"]):
                command = wired[0]["hooks"][0]["command"]
                subprocess.run(["/bin/sh", "-c", command], input=line, env=in_plugin, cwd=workspace, check=True)
        server = subprocess.run(
            ["/bin/sh", plugin / "plugin.sh", "mcp"], input=b"", env=in_plugin, cwd=workspace, check=False
        )
        assert server.returncode == 0

        def found() -> Any:
            search = [installed / "mem", "search", "expired tokens", "--json"]
            done = subprocess.run(search, env=environment, capture_output=True, check=True, cwd=workspace)
            return json.loads(done.stdout)["hits"]

        wait_until("what couriers carry is found", found, 20)
    finally:
        subprocess.run([installed / "mem", "stop"], env=environment, capture_output=True, check=False, cwd=workspace)
