"""For clients whose sessions nobody reads: they keep none, or in a form that is not described."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from siftd.clients.client import Decoded, Head
from siftd.model import Event


class NoFiles:
    """There are none."""

    suffix = ".none"
    reports_outcomes = False
    reports_everything = False

    def folder(self, environ: Mapping[str, str], user_home: str) -> None:  # noqa: ARG002 - there is none
        return None

    def head(self, path: str, lines: Iterable[bytes]) -> Head:  # noqa: ARG002 - whose it is, nobody can tell
        return Head(None, None, None)

    def joined_lines(self, path: str, lines: Iterable[bytes]) -> Iterable[bytes]:  # noqa: ARG002 - its own alone
        return lines

    def reader(self, session_id: str | None) -> NothingRead:  # noqa: ARG002 - it reads nothing
        return NothingRead()

    def spawned_agents(self, path: str, head: Head) -> dict[str, str]:  # noqa: ARG002 - nothing tells
        return {}


class NothingRead:
    """Reads any line and is told nothing by it."""

    is_between = True

    def read(self, line: bytes) -> Iterator[Decoded]:  # noqa: ARG002 - it is not described
        yield from ()

    def finish(self, complete: bool) -> Iterator[Event]:  # noqa: ARG002 - as above
        yield from ()
