"""The loop of `mem top`: one thread looks once a second, the other draws and hears keys, so that q is never late."""

from __future__ import annotations

import threading

from rich.console import Console
from rich.text import Text

from siftd.cli.columns import draws_blocks
from siftd.cli.context import Context
from siftd.cli.live.glance import Glance, take
from siftd.cli.live.terminal import LiveTerminal
from siftd.cli.live.view import lines_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

LOOK_SECONDS = 1.0


class Looking(threading.Thread):
    """Looks again and again until it is ended; the newest look is `newest`, what went wrong with it `error`."""

    def __init__(self, context: Context, wake: Callable[[], None]) -> None:
        super().__init__(name="looking", daemon=True)  # a daemon that hangs keeps nobody from leaving
        self._context = context
        self._wake = wake
        self._ended = threading.Event()
        self.newest: Glance | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        while not self._ended.is_set():
            try:
                self.newest = take(self._context)
            except BaseException as error:  # noqa: BLE001 - it is raised again by whoever draws
                self.error = error
            self._wake()
            self._ended.wait(LOOK_SECONDS)

    def end(self) -> None:
        self._ended.set()


def watch(context: Context) -> int:
    """Show the workspace until somebody has seen enough; return the exit status."""
    with LiveTerminal() as terminal:
        looking = Looking(context, terminal.wake)
        terminal.draw(["mem top  looking …" if draws_blocks() else "mem top  looking"])
        looking.start()
        try:
            while True:
                status = terminal.wait()
                if status is not None:
                    return status
                if looking.error is not None:
                    raise looking.error
                if looking.newest is not None:
                    columns, lines = terminal.size()
                    terminal.draw(painted(lines_of(looking.newest, columns, lines), columns))
        finally:
            looking.end()


def painted(lines: list[Text], columns: int) -> list[str]:
    """Return lines with their colours, as the terminal knows them (`TERM`, `NO_COLOR`)."""
    console = Console(width=columns, highlight=False, emoji=False, markup=False, legacy_windows=False)
    with console.capture() as captured:  # at once: line by line it is ten times as much work
        console.print(Text("\n").join(lines), end="", no_wrap=True, overflow="crop", crop=True)
    return captured.get().split("\n")
