"""What holds for every test."""

from __future__ import annotations

import gc

import pytest
from hypothesis import settings

settings.register_profile("siftd", deadline=None)  # no test asserts a time: a busy machine is not what it is about
settings.load_profile("siftd")

pytest_plugins = ["postgres"]  # its fixtures start a server when the first test wants one


FIRST = {
    "test_linear.py",
    "test_planted_secrets.py",
    "test_deadly_work.py",
    "test_log_life_faults.py",
    "test_odd_lives.py",
    "test_zeroed_pages.py",
    "test_kill_rounds.py",
    "test_page_acts.py",
    "test_page_hostile.py",
    "test_page_views.py",
    "test_team_kills.py",
    "test_team_page.py",
    "test_team_postgres_faults.py",
}
"""Files of half a minute and more."""
ORDINARY_CLIENT = "test_claude_code_end_to_end.py"
"""One real agent stands for all where half of the time is wanted back."""
OLDER_POSTGRES = "postgres16"


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses by the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with files that take long, then those that drive real agents: at the end all workers have short ones left.

    Meanwhile `scripts/test` installs the agents' programs. A real agent mostly waits for its processes, so that another
    worker has the processor. Both are `thorough`, but for one agent; so is all that the older PostgreSQL repeats.
    """
    real = {item.path for item in items if item.get_closest_marker("real_client")}
    for item in items:
        is_long = item.path.name in FIRST or (item.path in real and item.path.name != ORDINARY_CLIENT)
        if is_long or OLDER_POSTGRES in item.name:
            item.add_marker(pytest.mark.thorough)
    items.sort(key=lambda item: (item.path.name not in FIRST, item.path not in real))


def pytest_collection_finish() -> None:
    """Thousands of collected tests live to the end: the collector of garbage need not walk them again and again."""
    gc.collect()
    gc.freeze()
