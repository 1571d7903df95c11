"""Requests that stop capture and let it go on."""

from __future__ import annotations

from siftd.clock import Clock, uptime_ms
from siftd.daemon.group_commit import Committer
from siftd.daemon.handlers.answering import answers
from siftd.daemon.handlers.sessions import find_session
from siftd.daemon.intents import Intents
from siftd.daemon.store_access import StoreAccess
from siftd.wire import requests


class Pausing:
    """Stops capture, of everything or of a session."""

    def __init__(
        self,
        *,
        store: StoreAccess,
        committer: Committer,
        intents: Intents,
        clock: Clock,
    ) -> None:
        self._store = store
        self._committer = committer
        self._intents = intents
        self._clock = clock

    @answers(requests.Pause)
    async def pause(self, request: requests.Pause) -> requests.PauseAnswer:
        clock = self._clock
        session = await find_session(self._store, request.session) if request.known else request.session
        since = clock.now_ms()
        await self._intents.keep("opt-out", {"session": session, "since": since, "uptime": uptime_ms(clock)})
        return {"since": since, "session": session}

    @answers(requests.Resume)
    async def resume(self, request: requests.Resume) -> requests.ResumeAnswer:
        session = await find_session(self._store, request.session) if request.known else request.session
        since = self._committer.off_since(session)
        span = self._committer.off_until_now(session)
        if span is not None:
            await self._intents.keep("opt-in", {"session": session, "since": span.since, "until": span.until})
        return {"since": since, "session": session}
