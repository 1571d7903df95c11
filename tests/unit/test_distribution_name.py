"""The name of the distribution: `siftd` on the package index is somebody else's program."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
INSTALLING = re.compile(
    r"\b(?:pip3?|pipx|uv|uvx|conda|poetry|pdm)\b(?: (?:tool|pip|install|add|run|inject|-\S+))*"
    r" [\"'`\\]{0,3}siftd(?![\w/-])[^\n]{0,20}"
)
"""A command that would fetch what is called `siftd` there. `./siftd`, `siftd-memory` and `siftd/` are others."""


def tracked_texts() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, check=True).stdout
    return [REPOSITORY / name for name in listed.decode().split("\0") if name]


@pytest.mark.parametrize(
    "command",
    [
        "pip install siftd",
        "pip install 'siftd[ollama]'",
        "uv tool install siftd",
        "`uv tool install siftd`",
        "uvx siftd mcp",
        "pipx install siftd==0.13",
        "pipx run siftd",
        "python -m pip install --upgrade siftd",
        'uv pip install "siftd"',
    ],
)
def test_the_check_knows_such_a_command(command: str) -> None:
    assert INSTALLING.search(command)


@pytest.mark.parametrize(
    "command", ["pip install siftd-memory", "uv tool install 'siftd-memory[ollama]'", "pip wheel ."]
)
def test_the_check_lets_ours_pass(command: str) -> None:
    assert not INSTALLING.search(command)


def test_nothing_tells_a_person_to_install_somebody_elses_siftd() -> None:
    """README, manifests, errors and scripts: whoever follows them would give that program every frame."""
    here = Path(__file__)
    found = [
        f"{file.relative_to(REPOSITORY)}: {match.group()}"
        for file in tracked_texts()
        if file != here and file.is_file()
        for match in INSTALLING.finditer(file.read_bytes().decode("utf-8", "replace"))
    ]
    assert found == []


def test_the_distribution_has_a_name_of_its_own() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert project["name"] == "siftd-memory"
    assert set(project["scripts"]) == {"mem", "siftd"}
