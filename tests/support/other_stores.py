"""Stores of other memories, made of what was dumped of real ones (`tests/data/other_memories`)."""

from __future__ import annotations

import sqlite3
from pathlib import Path

DATA = Path(__file__).parents[1] / "data" / "other_memories"


def other_store(folder: Path, name: str) -> str:
    """Make the store that a memory of this name left; return its path."""
    file = folder / f"{name}.db"
    connection = sqlite3.connect(file)
    connection.executescript((DATA / f"{name}.sql").read_text())
    connection.close()
    return str(file)
