"""What a timer runs, and how often.

    python -I …/siftd/__main__.py notes sweep             SIFTD_HOME, SIFTD_NS and PATH set, nothing else

No scheduler is given anything of the environment in which it is installed: an agent may install it, with what a cloned
project's settings have set for it. The PATH is the daemon's, with the person's own folder of programs before it, where
agents' installers put themselves: a curator is one of those.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from typing import NamedTuple

from siftd.errors import SiftdError
from siftd.resources import entry_point
from siftd.wire.environment import PATH
from siftd.workspace.paths import DEFAULT_NAMESPACE, Home

EVERY_MINUTES = 30
AFTER_BOOT_MINUTES = 5
JITTER_SECONDS = 120
"""Many machines of one network begin at the same minute otherwise. Arbitrary."""
NICE = 19
_NAME = "siftd-notes"
_DIGITS = 8


class Order(NamedTuple):
    """One timer of one home."""

    name: str
    """Of its units and files; another one for each home that is not the usual one."""
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    mark: str
    """Hex digits that only this home has."""


def programs_path(user_home: str) -> str:
    """Return the PATH of a sweep, and of a sync that nobody waits for."""
    return f"{user_home.rstrip('/')}/.local/bin:{PATH}"


def order_for(home: Home, user_home: str) -> Order:
    """Return the timer of a home. Raises SiftdError for a path that no scheduler's file can hold."""
    is_usual = home.root == f"{user_home}/.siftd" and home.namespace == DEFAULT_NAMESPACE
    mark = hashlib.sha256(f"{home.root}\0{home.namespace}".encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
    argv = (sys.executable, "-I", entry_point(), "notes", "sweep")
    environment = {"SIFTD_HOME": home.root, "SIFTD_NS": home.namespace, "PATH": programs_path(user_home)}
    for word in (*argv, *environment.values()):
        if not word.isprintable():  # half of a character that is not UTF-8 is not, either
            raise SiftdError("a path has a character in it that no timer's file can hold", hint="rename the folder")
    return Order(_NAME if is_usual else f"{_NAME}-{mark}", argv, environment, mark)
