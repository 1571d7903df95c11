"""A terminal taken over for a live view, and given back as it was: after a key, an error, a signal, a stop.

The alternate screen is shown without a cursor, and keys arrive at once and unseen. Signals do nothing by themselves:
each writes its number into a pipe, on which the view waits together with the keys, so that none comes between two
halves of a drawing, and a key is answered whatever the daemon does.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from types import TracebackType
from typing import Any

ENTER = "\x1b[?1049h\x1b[?25l"
LEAVE = "\x1b[0m\x1b[?25h\x1b[?1049l"
_HOME, _REST_OF_LINE, _REST_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"
QUIT = (b"q", b"Q", b"\x03", b"\x04")
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_HEARD = (*_ENDS, signal.SIGWINCH, signal.SIGTSTP)
_READ_BYTES = 4_096
COLUMNS, LINES = 80, 24
"""Where a terminal does not know its size."""


def can_draw(term: str | None) -> bool:
    """Whether a person sits at a terminal that can be drawn on."""
    return sys.stdin.isatty() and sys.stdout.isatty() and term not in (None, "", "dumb", "unknown")


class LiveTerminal:
    """The terminal of this process for as long as it is entered."""

    def __init__(self) -> None:
        self._keys = sys.stdin.fileno()
        self._out = sys.stdout
        self._attributes: list[Any] | None = None
        self._handlers: dict[int, Any] = {}
        self._wakes, self._wake = os.pipe()
        for end in (self._wakes, self._wake):
            os.set_blocking(end, False)
        self._old_wake = -1

    def __enter__(self) -> LiveTerminal:
        self._old_wake = signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        for number in _HEARD:
            self._handlers[number] = signal.signal(number, _ignore)
        self._take()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._give_back()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_wake)
        os.close(self._wakes)
        os.close(self._wake)

    def wake(self) -> None:
        """Have `wait` return; from any thread."""
        with contextlib.suppress(OSError):  # it is full: it wakes anyway; or the view has ended
            os.write(self._wake, b"\0")

    def size(self) -> tuple[int, int]:
        """Return (columns, lines) as they are now."""
        try:
            columns, lines = os.get_terminal_size(self._out.fileno())
        except OSError:
            return COLUMNS, LINES
        return columns or COLUMNS, lines or LINES

    def draw(self, lines: list[str]) -> None:
        """Show these lines, each no wider than the terminal, and nothing else; no more than it has lines."""
        body = f"{_REST_OF_LINE}\r\n".join(lines)
        self._write(f"{_HOME}{body}{_REST_OF_LINE}{_REST_OF_SCREEN}")

    def wait(self) -> int | None:
        """Wait until there is something to draw: None. Where the view is to end: the exit status."""
        ready, _, _ = select.select([self._keys, self._wakes], [], [])
        if self._wakes in ready:
            for number in self._signals():
                if number == signal.SIGINT:
                    return 0
                if number in _ENDS:
                    return 128 + number
                if number == signal.SIGTSTP:
                    self._stop()
        if self._keys in ready:
            pressed = self._pressed()
            if pressed is None or any(each in pressed for each in QUIT):
                return 0
        return None

    def _signals(self) -> Iterator[int]:
        with contextlib.suppress(BlockingIOError):
            yield from os.read(self._wakes, _READ_BYTES)

    def _pressed(self) -> bytes | None:
        """Return the keys; None where nobody is there any more."""
        try:
            return os.read(self._keys, _READ_BYTES) or None
        except OSError:
            return None

    def _stop(self) -> None:
        """Stop, as Ctrl-Z asks, with the terminal as it was; go on when the shell says so."""
        self._give_back()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, _ignore)
        self._take()

    def _take(self) -> None:
        self._attributes = termios.tcgetattr(self._keys)
        tty.setcbreak(self._keys, termios.TCSANOW)
        self._write(ENTER)

    def _give_back(self) -> None:
        # A terminal that hung up takes nothing back.
        with contextlib.suppress(OSError, ValueError):
            self._write(LEAVE)
        if self._attributes is not None:
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self._keys, termios.TCSANOW, self._attributes)
                termios.tcflush(self._keys, termios.TCIFLUSH)  # what was typed into the view is not for the shell

    def _write(self, text: str) -> None:
        encoding = self._out.encoding or "utf-8"
        self._out.write(text.encode(encoding, "replace").decode(encoding))
        self._out.flush()


def _ignore(_: int, __: object) -> None:
    """Let the number in the pipe do it."""
