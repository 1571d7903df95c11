"""Every client that siftd can be wired into: those of the registry, and those that take our tools only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from siftd.clients.client import Installer, Where
from siftd.clients.registry import CLIENTS, DEFAULT
from siftd.clients.support import Support
from siftd.clients.tools_only.table import TOOLS_ONLY
from siftd.errors import RequestInvalid


class Installable(Protocol):
    """A client, as far as wiring it goes."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def support(self) -> Support: ...

    @property
    def installer(self) -> Installer | None: ...


EVERY: tuple[Installable, ...] = (*CLIENTS.values(), *TOOLS_ONLY)
"""Every client that siftd knows anything of."""
INSTALLABLE: dict[str, tuple[Installable, Installer]] = {
    each.name: (each, each.installer) for each in EVERY if each.installer is not None
}
"""By name, each with its installer."""


def detect(where: Where) -> list[str]:
    """Return the names of the clients that are on this machine."""
    return [name for name, (_, installer) in INSTALLABLE.items() if installer.is_present(where)]


def names_asked_for(asked: Iterable[str], where: Where) -> list[str]:
    """Return the clients that a person named, `all` or `detected` among them. Raises RequestInvalid."""
    names: dict[str, None] = {}
    for name in asked:
        if name == "all":
            names |= dict.fromkeys(INSTALLABLE)
        elif name == "detected":
            names |= dict.fromkeys(detect(where) or [DEFAULT])
        elif name in INSTALLABLE:
            names[name] = None
        else:
            raise RequestInvalid(
                "there is no such client to be wired", hint=f"one of {', '.join([*INSTALLABLE, 'all', 'detected'])}"
            )
    return list(names)
