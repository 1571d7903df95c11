"""The wheel carries what it needs: installed into a fresh environment it captures, drains and finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

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
    return next(folder.glob("siftd-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment's bin folder, with nothing in it but the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", str(wheel)], check=True)
    return folder / "bin"


def test_the_wheel_carries_the_hooks_and_the_schema(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in ("hooks/claude_code.py", "hooks/courier.py", "schema/0001_store.sql"):
        assert f"siftd/_data/{wanted}" in names
    assert not [name for name in names if "tests" in name or "__pycache__" in name]


def test_an_installed_wheel_captures_through_its_own_hook_and_finds_it(installed: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SIFTD_WORKSPACE": str(workspace)}

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
                command = [str(installed / "python"), "-I", "-S", f"{hook}/claude_code.py"]
                subprocess.run(command, input=line, env=environment, check=True)
        mem("start")
        assert mem("drain")["errors"] == 0
        assert mem("search", "expired tokens")["hits"]
        assert mem("install")
        assert f"{hook}/claude_code.py" in (tmp_path / ".claude" / "settings.json").read_text()
    finally:
        subprocess.run([installed / "mem", "stop"], env=environment, capture_output=True, check=False)
