"""Devices and the server of a team are killed at random moments: no follower misses a change, or is told one twice."""

from __future__ import annotations

import os
import random

import pytest
from postgres import Postgres
from team_torture import torture

pytestmark = pytest.mark.slow
KILLS = int(os.environ.get("SIFTD_TEST_TEAM_KILLS", "1"))
DEVICES = int(os.environ.get("SIFTD_TEST_TEAM_DEVICES", "2"))


def test_followers_have_each_change_once_whoever_is_killed(postgres: Postgres) -> None:
    """More of them: `scripts/torture team N`."""
    seed = random.SystemRandom().randrange(1_000_000)
    print(f"seed {seed}")
    outcome = torture(postgres, kills=KILLS, devices=DEVICES, seed=seed)
    assert outcome.is_right, outcome
    assert outcome.rows > 0
