"""Fixtures for tests against real processes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))

from daemons import Place


@pytest.fixture
def place() -> Iterator[Place]:
    """A home and a workspace of its own."""
    made = Place()
    yield made
    made.end()
