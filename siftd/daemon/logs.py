"""The daemon's structured log: one JSON line a fact, rotated, never captured text.

Without `configure` (in tests, in `mem`) structlog stays as it is.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, MutableMapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import msgspec
import structlog

ROTATE_BYTES = 4 * 1024 * 1024
_SESSION = re.compile(rb'"session":"((?:[^"\\\\]|\\\\.)*)"')
_TOOL = re.compile(rb'"tool":"((?:[^"\\\\]|\\\\.)*)"')
_encode = msgspec.json.Encoder().encode


class RotatingFile:
    """Appends lines; above 4 MiB the file becomes `<name>.1` and a new one begins."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = -1
        self._size = 0
        self._open()

    def msg(self, line: bytes) -> None:
        """Append one line. A full disk costs the line, not the daemon."""
        if self._size > ROTATE_BYTES:
            os.close(self._descriptor)
            Path(self._path).replace(f"{self._path}.1")
            self._open()
        try:
            if os.write(self._descriptor, line) == len(line):
                self._size += len(line)
            else:  # the next line would be read as the rest of this one
                os.ftruncate(self._descriptor, self._size)
        except OSError:
            return

    debug = info = warning = error = exception = critical = fatal = msg

    def _open(self) -> None:
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        self._size = os.fstat(self._descriptor).st_size


def configure(path: str) -> None:
    """Send every log line of this process to the file at `path`."""
    file = RotatingFile(path)
    structlog.configure(
        processors=[render],
        wrapper_class=structlog.make_filtering_bound_logger("info"),
        logger_factory=lambda *_: file,
        cache_logger_on_first_use=True,
    )


def unname(path: str, has_session: Callable[[str], bool], has_tool: Callable[[str], bool]) -> None:
    """Overwrite the names of sessions and tools that nothing is left of, in place: whoever appends goes on."""
    asked = ((_SESSION, cache(has_session)), (_TOOL, cache(has_tool)))  # thousands of lines name a few
    for each in (path, f"{path}.1"):
        try:
            descriptor = os.open(each, os.O_RDWR | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue
        with os.fdopen(descriptor, "r+b") as file:
            data = file.read()
            for pattern, is_known in asked:
                for found in pattern.finditer(data):
                    if not is_known(msgspec.json.decode(b'"%b"' % found[1], type=str)):
                        os.pwrite(descriptor, b"-" * len(found[1]), found.start(1))
            os.fsync(descriptor)


def render(_: Any, level: str, event: MutableMapping[str, Any]) -> bytes:
    """Render a line; of a traceback only places are kept, because an exception's text may quote what was captured.

    Every capture passes here, so it is one processor and not structlog's three (5 % of a capture).
    """
    event["level"] = "error" if level == "exception" else level
    event["timestamp"] = _timestamp(time.time_ns() // 1000)
    if event.get("exc_info"):
        trace = str(structlog.processors.format_exc_info(None, level, event).pop("exception", ""))
        event["trace"] = [line.strip() for line in trace.splitlines() if line.lstrip().startswith("File ")]
        event["error"] = trace.rstrip().rpartition("\n")[2].partition(":")[0]
    return _encode(event) + b"\n"


def _timestamp(us: int) -> str:
    return f"{_until_second(us // 1_000_000)}.{us % 1_000_000:06}Z"


@lru_cache(maxsize=1)
def _until_second(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
