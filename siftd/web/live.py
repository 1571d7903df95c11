"""What happens in each workspace, for whoever listens: one connection to its daemon for all of them.

A `Feed` watches one workspace while somebody listens. It numbers as the daemon does and holds as much, so that whoever
comes back goes on where it was, whether its stream or the daemon's connection was cut. Where that is not possible any
more, `reset` says so: what was shown is to be asked for anew.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from siftd.errors import HttpRefused, ProtocolError, RequestRefused, SiftdError
from siftd.web.limits import STREAMS_MAX
from siftd.web.projects import Projects
from siftd.web.types import encode
from siftd.wire.asking import Watch
from siftd.wire.client import Client
from siftd.wire.ring import LENGTH, Happening, Ring

SILENCE_SECONDS = 30.0
"""A daemon that watches for us says every few seconds that it is alive."""
WAITING_MAX = 2 * LENGTH
"""Happenings that wait for one listener; a slower one is cut, and comes back to go on where it was. Twice what a feed
holds: whoever comes back is given that much at once."""
LINGER_SECONDS = 10.0
"""How long a workspace is watched on after its last listener: a page that is loaded anew comes back at once."""
PAUSE_SECONDS, PAUSE_SECONDS_MAX = 0.5, 8.0
RESET, DAEMON = "reset", "daemon"
"""Kinds of ours: something was missed; whether the daemon answers, and else why not and what helps."""


class Said(NamedTuple):
    """What listeners are sent; `id` is where one may go on, empty for what is no happening."""

    id: str
    kind: str
    json: bytes
    """What there is to say of it, encoded once for all of them."""


class Listener:
    """One stream. What it has not taken yet waits for it, up to a bound; behind that it is cut."""

    def __init__(self) -> None:
        self._waiting: deque[Said] = deque()
        self._changed = asyncio.Event()
        self.is_cut = False

    def say(self, said: Iterable[Said]) -> None:
        """Let it have something."""
        self._waiting.extend(said)
        self.is_cut = self.is_cut or len(self._waiting) > WAITING_MAX
        self._changed.set()

    def cut(self) -> None:
        """End it."""
        self.is_cut = True
        self._changed.set()

    async def next(self) -> list[Said]:
        """Return what it is to say next, once there is something; nothing once it is cut."""
        while not (self._waiting or self.is_cut):
            self._changed.clear()
            await self._changed.wait()
        said = [] if self.is_cut else list(self._waiting)
        self._waiting.clear()
        return said

    async def when_cut(self) -> None:
        """Wait until it is cut."""
        while not self.is_cut:
            self._changed.clear()
            await self._changed.wait()


class Feed:
    """What happens in one workspace. All of it runs in the loop, but for the thread that reads the daemon's words."""

    def __init__(self, projects: Projects, key: str, on_end: Callable[[], object]) -> None:
        self._projects = projects
        self._key = key
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._listeners: set[Listener] = set()
        self._ring: Ring | None = None
        self._state: dict[str, Any] | None = None
        self._client: Client | None = None
        self._ends = threading.Event()
        self._lingering: asyncio.TimerHandle | None = None
        self._thread: threading.Thread | None = None

    def listen(self, last: str) -> Listener:
        """Return a stream that begins behind `last`, the last id of an earlier one; now, where it is empty."""
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None
        listener = Listener()
        if self._thread is None:
            self._begin(*_place_of(last))
        elif self._ring is not None:
            listener.say(self._missed(last, self._ring))
        if self._state is not None:
            listener.say([Said("", DAEMON, encode(self._state))])
        self._listeners.add(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        """End a stream; without any the workspace is watched no more, a little later."""
        self._listeners.discard(listener)
        if not self._listeners and self._lingering is None:
            self._lingering = self._loop.call_later(LINGER_SECONDS, self.close)

    def close(self) -> None:
        """Watch no more, and end every stream."""
        self._ends.set()
        for listener in self._listeners:
            listener.cut()
        if self._client is not None:
            self._client.hang_up()
        self._on_end()

    def _missed(self, last: str, ring: Ring) -> list[Said]:
        """Return what happened since an earlier stream's last id."""
        if not last:
            return []
        epoch, seq = _place_of(last)
        missed = ring.since(seq) if epoch == ring.epoch else None
        return [_reset(ring)] if missed is None else [_said(ring, each, self._key) for each in missed]

    def _begin(self, epoch: str | None, seq: int) -> None:
        if epoch is not None:
            self._ring = Ring(epoch=epoch)
            self._ring.last = seq
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        """Read what the daemon says, and ask it again when it has ended, until nobody listens."""
        pause = PAUSE_SECONDS
        while not self._ends.is_set():
            problem: SiftdError | None = None
            try:
                asking = self._projects.client(self._key)
                with asking.reach() as client:
                    self._client = client
                    if self._ends.is_set():
                        return
                    ring = self._ring
                    request = Watch(epoch=ring.epoch, after=ring.last) if ring is not None else Watch()
                    client.request(request, timeout=SILENCE_SECONDS, on_progress=self._take)
            except (RequestRefused, ProtocolError) as error:
                problem = self._projects.explained(asking, error)
            except SiftdError as error:
                problem = error
            except Exception as error:  # noqa: BLE001 - the thread's boundary: it is tried again
                problem = SiftdError(f"the daemon cannot be watched ({type(error).__name__})", hint="see `mem doctor`")
            self._client = None
            if self._ends.is_set():
                return
            if problem is not None:
                self._in_loop(self._say_away, problem)
            pause = PAUSE_SECONDS if problem is None else min(PAUSE_SECONDS_MAX, pause * 2)
            self._ends.wait(pause)

    def _take(self, progress: dict[str, Any]) -> None:
        self._in_loop(self._taken, progress)

    def _in_loop(self, work: Callable[..., object], *values: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(work, *values)
        except RuntimeError:  # the loop has ended, and we end with it
            self._ends.set()

    def _taken(self, progress: dict[str, Any]) -> None:
        """Take one message of the daemon, in the loop."""
        if "epoch" in progress:
            self._take_place(progress)
        elif "happened" in progress and self._ring is not None:
            ring, news = self._ring, [Happening(*each) for each in progress["happened"]]
            for each in news:
                if each.kind == "forgotten":
                    ring.forget()
                ring.take([each])
            self._broadcast([_said(ring, each, self._key) for each in news])

    def _take_place(self, progress: dict[str, Any]) -> None:
        ring = self._ring
        if ring is None or ring.epoch != progress["epoch"] or progress["reset"]:
            ring = self._ring = Ring(epoch=progress["epoch"])
            ring.last = progress["seq"]
        if progress["reset"]:
            self._broadcast([_reset(ring)])
        if self._state != {"isThere": True}:
            self._state = {"isThere": True}
            self._broadcast([Said("", DAEMON, encode(self._state))])

    def _say_away(self, problem: SiftdError) -> None:
        said = {"code": problem.code, "message": problem.message, "hint": problem.hint}
        state = {"isThere": False, "error": said}
        if self._state != state:
            self._state = state
            self._broadcast([Said("", DAEMON, encode(state))])

    def _broadcast(self, said: list[Said]) -> None:
        for listener in self._listeners:
            listener.say(said)


class Feeds:
    """The feeds of one process, each of which begins with its first listener."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._feeds: dict[str, Feed] = {}
        self._streams = 0
        self._is_closed = False

    def listen(self, key: str, last: str) -> Listener:
        """Return a stream of a workspace that is there. Raises HttpRefused where there are too many."""
        if self._streams >= STREAMS_MAX or self._is_closed:
            raise HttpRefused(429, "too_often", "enough streams are open", hint="close a page", retry_after_seconds=5)
        feed = self._feeds.get(key)
        if feed is None:
            feed = self._feeds[key] = Feed(self._projects, key, lambda: self._feeds.pop(key, None))
        self._streams += 1
        return feed.listen(last)

    def leave(self, key: str, listener: Listener) -> None:
        """End a stream."""
        self._streams -= 1
        if (feed := self._feeds.get(key)) is not None:
            feed.leave(listener)

    def close(self) -> None:
        """End every stream: the process ends."""
        self._is_closed = True
        for feed in list(self._feeds.values()):
            feed.close()


def _place_of(last: str) -> tuple[str | None, int]:
    """Return the epoch and the number in an id of ours; (None, 0) for what is none."""
    epoch, _, number = last.rpartition(".")
    is_ours = epoch.isascii() and epoch.isalnum() and number.isascii() and number.isdigit() and len(number) < 20
    return (epoch, int(number)) if is_ours else (None, 0)


def _said(ring: Ring, happening: Happening, key: str) -> Said:
    return Said(f"{ring.epoch}.{happening.seq}", happening.kind, encode({**happening.data, "project": key}))


def _reset(ring: Ring) -> Said:
    return Said(f"{ring.epoch}.{ring.last}", RESET, b"{}")
