"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("siftd", deadline=None)  # no test asserts a time: a busy machine is not what it is about
settings.load_profile("siftd")
