"""Hidden once, hidden everywhere: what was redacted under a name is found again wherever it stands in its session.

A password is known by what is said of it, once; the next command prints it bare. So each value that was redacted
because of its surroundings is remembered for its session, as the values of `.env` files are: as keyed hashes of its
forms, in memory alone (`siftd.redact.values`). Words, numbers and what is shorter than eight characters are not.

Two things are done with it. Whatever comes later in the session is searched for it (`known`). And what was stored
before may hold it: the values that nobody has looked for there yet are `unsought`, until `note_sought`.

All of it ends with the process: a value that was learnt before a restart is found again only where it is named again,
and what was to be looked for and was not, stays. To keep the hashes would be to keep something to test guesses with,
beside the key. A spool's process learns for the frames that it is given, and the daemon never learns what it knew.

Bounded: VALUES_MAX values of each of the SESSIONS_MAX sessions used last, IN_ALL_MAX values altogether (some 25 MB), as
many to be looked for, and EVENT_MAX that one event teaches. READY_MAX sessions have their automaton ready (one to two
megabytes), any other makes it anew, in a millisecond or ten.
"""

from __future__ import annotations

import contextlib
import json
import string
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Protocol, TypeVar
from urllib.parse import unquote

from siftd.redact.values import Form, Hasher, KnownValues

NAME = "session-value"
SESSIONS_MAX = 1_024
"""More than anybody works in at a time: a backfill, which reads one session after the other, must not oust them."""
VALUES_MAX = 256
IN_ALL_MAX = 16_384
EVENT_MAX = 128
"""A value's forms take 35 microseconds to make; a capture may keep the daemon from others for 20 ms."""
READY_MAX = 8
SHORTEST = 8
"""Characters. A shorter value stands in texts by chance; files of settings have rules of their own for it."""
WORDS_MAX = 4
"""Blanks in a phrase that is taken for a secret; more make a sentence."""

T = TypeVar("T")
Forms = frozenset[Form]
"""Every form of one value."""


class Values(Protocol):
    """What is known to be hidden in each session."""

    def known(self, session_id: str) -> KnownValues | None:
        """Return what finds the session's values; None when it has none. The same object while they stay the same."""

    def learn(self, session_id: str, values: Iterable[str]) -> None:
        """Hide these in the session from now on."""


class SessionValues:
    """The values of the sessions of one process. Safe to use from several threads."""

    def __init__(self) -> None:
        self._hasher = Hasher()
        self.by_session: dict[str, dict[Forms, None]] = {}
        self._ready: dict[str, KnownValues] = {}
        self.not_yet_sought: dict[str, dict[Forms, None]] = {}
        self.missed = 0
        """Values that nobody has looked for in what was stored before, and nobody will: they were too many."""
        self._lock = Lock()

    def known(self, session_id: str) -> KnownValues | None:
        if session_id not in self.by_session:  # nearly always: not worth a lock
            return None
        with self._lock:
            values = self.by_session.get(session_id)
            if values is None:
                return None
            _renew(self.by_session, session_id, values)
            ready = self._ready.get(session_id) or self._finder(values)
            _keep_ready(self._ready, session_id, ready)
            return ready

    def learn(self, session_id: str, values: Iterable[str]) -> None:
        values = [value for value in dict.fromkeys(values) if not _is_said(value)][:EVENT_MAX]
        long = [each for value in values for each in _meant(value) if len(each) >= SHORTEST]
        found = [forms for each in long if (forms := self._hasher.forms(each))]
        with self._lock:
            known = self.by_session.get(session_id, {})
            new = dict.fromkeys(forms for forms in found if forms not in known)
            if not new:
                return
            known.update(new)
            while len(known) > VALUES_MAX:
                del known[next(iter(known))]
            _renew(self.by_session, session_id, known)
            _bound(self.by_session)
            self._ready.pop(session_id, None)
            _renew(self.not_yet_sought, session_id, self.not_yet_sought.get(session_id, {}) | new)
            self.missed += _bound(self.not_yet_sought)

    def unsought(self) -> dict[str, frozenset[Forms]]:
        """Return, by session, the values that what was stored before has not been searched for."""
        with self._lock:
            return {session_id: frozenset(values) for session_id, values in self.not_yet_sought.items()}

    def note_sought(self, sought: Mapping[str, Iterable[Forms]]) -> None:
        """What was stored before the call of `unsought` that gave these is searched, and clean of them."""
        with self._lock:
            for session_id, values in sought.items():
                left = self.not_yet_sought.get(session_id, {})
                for forms in values:
                    left.pop(forms, None)
                if not left:
                    self.not_yet_sought.pop(session_id, None)

    def finders(self, sought: Mapping[str, Iterable[Forms]]) -> Sought:
        """Return what finds these values in their sessions, and learns nothing."""
        return Sought(self._finder, sought)

    def _finder(self, values: Iterable[Forms]) -> KnownValues:
        return KnownValues(self._hasher, (form for forms in values for form in forms), name=NAME)


class Sought:
    """The values of some sessions, to be looked for in what they have stored. For one thread at a time."""

    def __init__(self, finder: Callable[[Iterable[Forms]], KnownValues], sought: Mapping[str, Iterable[Forms]]) -> None:
        self._finder = finder
        self._sought = sought
        self._ready: dict[str, KnownValues] = {}

    @property
    def sessions(self) -> list[str]:
        return list(self._sought)

    def known(self, session_id: str) -> KnownValues | None:
        values = self._sought.get(session_id)
        if values is None:
            return None
        ready = self._ready.get(session_id) or self._finder(values)
        _keep_ready(self._ready, session_id, ready)
        return ready

    def learn(self, session_id: str, values: Iterable[str]) -> None:
        """Nothing: what is stored has been redacted before."""


def _is_said(value: str) -> bool:
    """Tell words from a value: a name grown of words, with whatever signs around it (`**handling**`), or a sentence.

    Who takes such a thing for a secret takes it where it is named alone.
    """
    inner = value.strip(string.punctuation + " ")
    capitals = sum(map(str.isupper, inner))  # generated letters have one in two
    is_of_words = all(each.isalpha() or each in "-_./ " for each in inner) and capitals * 3 <= len(inner)
    return is_of_words or inner.count(" ") > WORDS_MAX


def _meant(value: str) -> set[str]:
    """Return a value as it was written, and as it is meant where it was written in an address or in JSON."""
    meant = {value}
    if "%" in value:
        meant.add(unquote(value))
    if "\\" in value:
        with contextlib.suppress(ValueError):
            meant.add(str(json.loads(f'"{value}"')))
    return meant


def _renew(by_session: dict[str, T], key: str, value: T) -> None:
    """Put an entry last: those that were not used for the longest time stand first."""
    by_session.pop(key, None)
    by_session[key] = value


def _keep_ready(by_session: dict[str, KnownValues], session_id: str, ready: KnownValues) -> None:
    _renew(by_session, session_id, ready)
    if len(by_session) > READY_MAX:
        del by_session[next(iter(by_session))]


def _bound(sessions: dict[str, dict[Forms, None]]) -> int:
    """Take away the sessions that were not used for the longest time; return how many values went with them."""
    gone = 0
    in_all = sum(map(len, sessions.values()))
    while len(sessions) > SESSIONS_MAX or in_all - gone > IN_ALL_MAX:
        gone += len(sessions.pop(next(iter(sessions))))
    return gone
