"""Faults are tried on the same places as the integration tests', and on shops opened as in the unit tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))

from daemons import Place


@pytest.fixture
def place() -> Iterator[Place]:
    """A home and a workspace of its own."""
    made = Place()
    yield made
    made.end()
