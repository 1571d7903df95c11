"""Imports point down: no room knows the rooms above it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "siftd"
FLOORS = {
    "errors": 0, "ids": 0, "model": 0, "clock": 0,
    "paths": 0, "file_identity": 0, "config": 0, "own_rules": 0, "scoring": 0,
    "resources": 0, "harmless": 0, "wording": 0, "surroundings": 0,
    "workspace": 1, "belonging": 1, "home": 1, "secret": 1, "at_work": 1, "frames": 1, "messages": 1, "client": 1,
    "starting": 1, "moments": 1, "repository": 1, "everywhere": 1, "project_file": 1, "foreign_file": 1, "branches": 1,
    "redact": 2, "symbols": 2, "clients": 2, "shorten": 2, "redacted": 2, "admission": 2, "intake": 2, "env_files": 2,
    "env_held": 2, "env_lines": 2, "env_names": 2, "touched": 2, "admitting": 2,
    "log": 3, "spool": 3,
    "store": 4,
    "embed": 5, "summarise": 5, "search": 5, "reach": 5,
    "consolidate": 6, "backfill": 6, "exchange": 6,
    "daemon": 7,
    "cli": 8, "install": 8, "mcp": 8, "__main__": 8,
}  # fmt: skip


def room_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "siftd":
            parts = node.module.split(".")
            rooms |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            rooms |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("siftd.")}
    return rooms & FLOORS.keys()


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_nothing_from_above(path: Path) -> None:
    room = room_of(path)
    if room == "__init__":
        return
    assert room in FLOORS, f"{room} is on no floor: add it to this table and to docs/architecture.md"
    for other in imported_rooms(path) - {room}:
        assert FLOORS[other] <= FLOORS[room], f"{room} imports {other} from a floor above"


def test_hooks_import_nothing_of_the_package() -> None:
    for script in (PACKAGE.parent / "hooks").glob("*.py"):
        assert not imported_rooms(script)
        assert "siftd" not in {
            alias.name
            for node in ast.walk(ast.parse(script.read_text()))
            if isinstance(node, ast.Import)
            for alias in node.names
        }
