"""Waiting for the couriers of a home: on a busy machine they bring, or spool, what its hooks could not hand over."""

from __future__ import annotations

import fcntl
from pathlib import Path

from daemons import wait_until


def wait_for_couriers(home: Path) -> None:
    """Wait until no courier below a person's home holds its slot any more; then `mem drain` takes in all there is."""
    slots = [*home.glob(".siftd/**/run/*.courier[0-9]")]
    wait_until("the couriers have ended", lambda: not any(_is_held(slot) for slot in slots))


def _is_held(slot: Path) -> bool:
    with slot.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
