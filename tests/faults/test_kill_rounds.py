"""Kill -9 at random moments under load: nothing acknowledged is lost, doubled, changed or renumbered."""

from __future__ import annotations

import os
import random

import pytest
from torture import run

pytestmark = pytest.mark.slow
ROUNDS = int(os.environ.get("SIFTD_TEST_KILL_ROUNDS", "40"))


def test_what_was_acknowledged_survives_kills_at_random_moments() -> None:
    """More rounds: `scripts/torture N`."""
    seed = random.SystemRandom().randrange(1_000_000)
    print(f"seed {seed}")
    told = run(ROUNDS, seed)
    assert told["kills"] >= ROUNDS
    assert told["acknowledged"] > ROUNDS
