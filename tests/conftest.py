"""What holds for every test."""

from __future__ import annotations

import gc

from hypothesis import settings

settings.register_profile("siftd", deadline=None)  # no test asserts a time: a busy machine is not what it is about
settings.load_profile("siftd")


def pytest_collection_finish() -> None:
    """Thousands of collected tests live to the end: the collector of garbage need not walk them again and again."""
    gc.collect()
    gc.freeze()
