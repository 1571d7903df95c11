"""`mem logs`: what the daemon did. It holds ids, counts and durations, never captured text."""

from __future__ import annotations

import json
import os
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path

from siftd.cli.context import Context
from siftd.cli.numbers import positive
from siftd.cli.output import clean, note, paint, say
from siftd.file_identity import FileIdentity, identify

FOLLOW_SECONDS = 0.2
_LEVEL_STYLES = {"warning": "yellow", "error": "red"}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-n", type=positive, default=50, metavar="N", help="the last N lines (default: 50)")
    parser.add_argument("-f", "--follow", action="store_true", help="go on with what is added")


def run(context: Context, options: Namespace) -> int:
    path = context.paths.daemon_log
    lines = list_last(path, options.n)
    for line in lines:
        _say_line(line, options.json)
    if options.follow:
        for line in iter_added(path, lambda: time.sleep(FOLLOW_SECONDS)):
            _say_line(line, options.json)
    elif not lines:
        note("mem: the daemon of this workspace has logged nothing yet")
    return 0


def list_last(path: str, number: int) -> list[str]:
    """Return the last lines of the log, those before its rotation included."""
    lines: list[str] = []
    for file in (f"{path}.1", path):
        try:
            lines += Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            continue
    return lines[-number:] if number > 0 else []


def iter_added(path: str, pause: Callable[[], object]) -> Iterator[str]:
    """Yield lines as they are added, for ever; a log that is rotated or made meanwhile is followed."""
    descriptor, held = _open_at_end(path)
    rest = b""
    try:
        while True:
            found = identify(path)  # before reading: once another file has the name, nothing more comes into this one
            while descriptor >= 0 and (data := os.read(descriptor, 1 << 16)):
                *whole, rest = (rest + data).split(b"\n")
                for line in whole:
                    yield line.decode("utf-8", "replace")
            if found in (held, None):
                pause()
                continue
            if descriptor >= 0:
                os.close(descriptor)
            descriptor, held, rest = os.open(path, os.O_RDONLY), found, b""
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def format_line(line: str) -> str:
    """Return one line of the log for people; one that is not ours stays as it is."""
    try:
        fields = json.loads(line)
        moment, level, event = fields.pop("timestamp"), fields.pop("level"), fields.pop("event")
    except (ValueError, KeyError, TypeError, AttributeError):
        return clean(line)
    shown = " ".join(f"{name}={_format_value(value)}" for name, value in fields.items())
    styled = paint(f"{level:<7}", _LEVEL_STYLES.get(level, "dim"))
    return f"{str(moment)[:19].replace('T', ' ')}  {styled}  {clean(f'{event} {shown}').rstrip()}"


def _say_line(line: str, is_raw: bool) -> None:
    say(line if is_raw else format_line(line))


def _format_value(value: object) -> str:
    return value if isinstance(value, str) and " " not in value else json.dumps(value, ensure_ascii=False)


def _open_at_end(path: str) -> tuple[int, FileIdentity | None]:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return -1, None
    os.lseek(descriptor, 0, os.SEEK_END)
    return descriptor, identify(descriptor)
