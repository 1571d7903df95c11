"""The server's log: a line of JSON each, on standard error. It names places, counts and ids, and never what was said.

What other libraries log passes here too: of an exception only its name and its places are kept, because its text may
quote a statement's values.
"""

from __future__ import annotations

import logging
import sys
import traceback

import structlog

from siftd.daemon.logs import render


def configure() -> None:
    """Send every log line of this process to standard error."""
    structlog.configure(
        processors=[render],
        wrapper_class=structlog.make_filtering_bound_logger("info"),
        logger_factory=lambda *_: _Lines(),
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    root.handlers[:] = [_Foreign()]
    root.setLevel(logging.WARNING)
    for name in ("uvicorn", "uvicorn.error", "psycopg", "psycopg.pool"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True


class _Lines:
    """Writes a line that has its end already."""

    def msg(self, line: bytes) -> None:
        sys.stderr.buffer.write(line)
        sys.stderr.buffer.flush()

    debug = info = warning = error = exception = critical = fatal = msg


class _Foreign(logging.Handler):
    """Takes what a library logs: its fixed text without what was put in, and where an exception was."""

    def emit(self, record: logging.LogRecord) -> None:
        said: dict[str, object] = {"library": record.name, "text": str(record.msg)[:200] if record.args else ""}
        if not record.args and not record.exc_info:
            said["text"] = str(record.msg)[:200]
        if record.exc_info and record.exc_info[0] is not None:
            said["error"] = record.exc_info[0].__name__
            said["trace"] = [f"{each.filename}:{each.lineno}" for each in traceback.extract_tb(record.exc_info[2])]
        structlog.get_logger().warning("library_said", **said)
