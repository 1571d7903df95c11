"""What a daemon has of the environment of whoever starts it: names that can neither run, send nor spend anything.

A cloned project's settings may set any variable for the agent, and so for its hooks. A daemon that one of them starts
works with what is in the home's configuration file alone: no variable gives it a backend, an address, a command, a key,
a proxy or a certificate, and it finds programs where the system keeps them, not where somebody's PATH leads.
hooks/courier.py hands on the same.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping

PASSED_ON = ("HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SIFTD_HOME", "SIFTD_NS")
PATH = (
    "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/opt/local/bin:/home/linuxbrew/.linuxbrew/bin"
    ":/run/current-system/sw/bin:/nix/var/nix/profiles/default/bin"
)
"""For git, and for a `memory.command` that is not an absolute path."""
ALLOCATOR = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "1048576", "MALLOC_TRIM_THRESHOLD_": "33554432"}
"""For glibc: threads share two arenas, and what is large goes back to the system when it is freed. Else each thread
keeps the most that it ever needed (238 MB after ten minutes of `scripts/soak`). What is smaller stays until a tick
gives it back (`siftd.daemon.malloc_trim`): where the threshold for what is large is set alone, each 128 KB at a heap's
end go back, and a search among 100,000 summaries took them again page by page, 4,400 pages, half of its time."""


def of_daemon(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the whole environment of a daemon that is started from `environ`."""
    return {name: environ[name] for name in PASSED_ON if name in environ} | {"PATH": PATH} | ALLOCATOR


def keep_harmless(environ: MutableMapping[str, str]) -> None:
    """Make `environ`, the process's own, that of a daemon, whoever has started it."""
    passed_on = of_daemon(environ)
    for name in [*environ]:
        if name not in passed_on:
            del environ[name]
    environ.update(passed_on)
