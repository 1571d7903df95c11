"""Imports point down, nowhere in a circle: no room knows the rooms above it (`[tool.importlinter]`, pyproject.toml)."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def test_the_contracts_between_rooms_are_kept() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_hooks_import_nothing_of_the_package() -> None:
    for script in (REPOSITORY / "hooks").glob("*.py"):
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            named += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(each.split(".")[0] == "siftd" for each in named), script.name
