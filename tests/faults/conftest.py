"""Faults are tried on the places that the integration tests use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from daemons import Place


@pytest.fixture
def place() -> Iterator[Place]:
    """A home and a workspace of its own."""
    made = Place()
    yield made
    made.end()
