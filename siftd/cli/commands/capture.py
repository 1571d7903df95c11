"""`mem capture`: keep what an agent or a script of your own tells, one line of JSON each, on standard input.

The lines are those that `siftd.clients.generic.lines` specifies (docs/capture.md). A line is kept when the next one is
read; a call without its result waits for it.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import clean, count, note, say_json
from siftd.clients.generic.lines import NAME, LineReader, encode_line
from siftd.errors import EnvelopeRejected, RequestRefused
from siftd.wire.workspace_client import ANSWER_SECONDS

LINE_BYTES_MAX = 16 * 1024 * 1024
"""A longer line fits no frame."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--session", help="the session of lines that name none")


def run(context: Context, options: Namespace) -> int:
    stored = known = 0
    refused: list[str] = []
    reader = LineReader(options.session)
    for number, raw in enumerate(iter(lambda: sys.stdin.buffer.readline(LINE_BYTES_MAX), b""), start=1):
        if not raw.strip():
            continue
        try:
            line = reader.join(raw)
            if line is None:
                continue
            answer = _send(context, encode_line(line))
        except (EnvelopeRejected, RequestRefused) as error:
            refused.append(f"line {number}: {clean(error.message)}")
            continue
        is_known = bool(answer.get("duplicate"))
        known += is_known
        stored += not is_known and not answer.get("ignored")
    waiting = reader.waiting
    if options.json:
        say_json({"captured": stored, "known": known, "refused": refused, "waiting": waiting})
    else:
        note(f"mem: {count(stored, 'line')} captured, {known} known already")
        if waiting:
            note(f"mem: {count(waiting, 'call')} without a result: not kept")
        for each in refused[:5]:
            note(f"mem: {each}")
    return 1 if refused else 0


def _send(context: Context, raw: bytes) -> dict[str, object]:
    header = {
        "client": NAME,
        "frameUid": secrets.token_hex(16),
        "root": context.workspace.root,
        "ts": time.time_ns() // 1_000_000,
        "bytes": len(raw),
        "off": os.environ.get("SIFTD_OFF") == "1",
    }
    with context.reach() as client:
        return client.send_hook(header, raw, timeout=ANSWER_SECONDS)
