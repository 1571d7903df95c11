"""`mem doctor`: every link of the chain from a tool call to a search, and the remedy for what is broken.

Never starts a daemon. Exit status 0 when all is well, 1 otherwise; a daemon that does not run is not well.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from siftd.cli.context import Context
from siftd.cli.diagnose.check_clients import check_clients
from siftd.cli.diagnose.check_daemon import check_daemon
from siftd.cli.diagnose.check_files import (
    check_config,
    check_database,
    check_failures,
    check_home,
    check_path,
    check_python,
    check_shell,
)
from siftd.cli.diagnose.check_moved import check_moved
from siftd.cli.diagnose.check_notes import check_notes
from siftd.cli.diagnose.hook_failures import acknowledge
from siftd.cli.output import clean, count, note, paint, say, say_json
from siftd.finding import Finding

_STYLES = {"ok": "green", "note": "cyan", "problem": "red"}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--ack", action="store_true", help="do not report again what hooks have failed at until now")


def run(context: Context, options: Namespace) -> int:
    asked_at_ms = time.time_ns() // 1_000_000
    findings = list(examine(context))
    if options.ack:
        acknowledge(context.home, asked_at_ms)
    problems = sum(finding.state == "problem" for finding in findings)
    if options.json:
        say_json({"ok": problems == 0, "checks": [finding.as_json() for finding in findings]})
    else:
        for finding in findings:
            _say_finding(finding)
        note(f"mem: {count(problems, 'problem')} found" if problems else "mem: all is well")
    return 1 if problems else 0


def examine(context: Context) -> Iterator[Finding]:
    """Yield what there is to say about each link, in the order in which a tool call passes them."""
    yield from check_python()
    yield from check_home(context)
    yield from check_config(context)
    yield from check_shell(context)
    yield from check_path(context)
    yield from check_clients(context)
    yield from check_failures(context)
    yield from check_daemon(context)
    yield from check_database(context)
    yield from check_moved(context)
    yield from check_notes(context)


def _say_finding(finding: Finding) -> None:
    state = paint(f"{finding.state:<7}", _STYLES[finding.state])
    say(f"{state}  {finding.link:<9}  {clean(finding.message)}")
    if finding.remedy and finding.state != "ok":
        say(f"{'':<7}  {'':<9}  {paint(f'→ {clean(finding.remedy)}', 'bold')}")
