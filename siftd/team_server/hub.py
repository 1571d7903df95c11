"""Who listens to which project, and what they are told: that an item can be found by its meaning now.

Told to that project's listeners alone; of a private item to those alone who listen with the token that it was embedded
for. Whoever reads too slowly is cut and comes again: there is nothing to resume, because the feed has everything.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from siftd.errors import HttpRefused
from siftd.team.items import Source
from siftd.team_server.limits import SOCKETS_MAX
from siftd.web.live import Listener, Said
from siftd.web.types import encode

INDEXED = "memory:indexed"


@dataclass(frozen=True, slots=True)
class Indexed:
    """An item that has its vector."""

    id: uuid.UUID
    source: Source
    visibility: str
    embedded_at: int


class Hub:
    """The listeners of one server."""

    def __init__(self) -> None:
        self._listeners: dict[uuid.UUID, dict[Listener, bytes]] = {}
        self._count = 0

    def listen(self, project: uuid.UUID, digest: bytes) -> Listener:
        """Return a listener. Raises HttpRefused where there are too many."""
        if self._count >= SOCKETS_MAX:
            raise HttpRefused(429, "too_often", "enough programs listen", hint="end one", retry_after_seconds=5)
        self._count += 1
        listener = Listener()
        self._listeners.setdefault(project, {})[listener] = digest
        return listener

    def leave(self, project: uuid.UUID, listener: Listener) -> None:
        """End a listener."""
        listeners = self._listeners.get(project, {})
        if listeners.pop(listener, None) is not None:
            self._count -= 1
        if not listeners:
            self._listeners.pop(project, None)

    def broadcast(self, project: uuid.UUID, digest: bytes, indexed: Iterable[Indexed]) -> None:
        """Tell a project's listeners what can be found by meaning now, as the holder of `digest` may see it."""
        listeners = self._listeners.get(project)
        if not listeners:
            return
        said = [(each.visibility, _said(project, each)) for each in indexed]
        for listener, theirs in listeners.items():
            listener.say(message for visibility, message in said if visibility == "project" or theirs == digest)

    def close(self) -> None:
        """Cut everybody: the server ends."""
        for listeners in list(self._listeners.values()):
            for listener in listeners:
                listener.cut()


def _said(project: uuid.UUID, indexed: Indexed) -> Said:
    about = {"id": indexed.id, "project": project, "source": indexed.source, "embeddedAt": indexed.embedded_at}
    return Said("", INDEXED, encode(about))
