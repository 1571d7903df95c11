"""What `mem doctor` learns from the daemon itself, or from its files when none answers; it starts none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import siftd
from siftd.cli.context import Context
from siftd.cli.diagnose.marker_files import read_marker_files
from siftd.cli.diagnose.offline import read_files
from siftd.cli.diagnose.states import find_abnormal
from siftd.cli.output import format_duration
from siftd.errors import DaemonTimedOut, DaemonUnreachable, SiftdError
from siftd.finding import Finding
from siftd.wire.asking import Hello, Info
from siftd.wire.client import connect
from siftd.wire.workspace_client import ANSWER_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.cli.diagnose.marker_files import State
    from siftd.wire.requests import HelloAnswer, InfoAnswer

HELLO_SECONDS = 1.0
_WELL = {"spool": "nothing waits", "log": "no line was ever set aside"}


def check_daemon(context: Context) -> Iterator[Finding]:
    """Say whether it runs and answers, then whatever is not as it should be."""
    info: InfoAnswer | None = None
    try:
        with connect(context.paths, timeout=HELLO_SECONDS) as client:
            yield _check_hello(client.request(Hello(), timeout=HELLO_SECONDS))
            info = client.request(Info(), timeout=ANSWER_SECONDS)
    except DaemonUnreachable:
        # Before anything was captured nothing is wrong: a perfect installation is not told of a problem.
        has_begun = Path(context.paths.database).exists()
        remedy = "`mem start`, or the next tool call, starts it"
        yield Finding("daemon", "problem" if has_begun else "note", "no daemon runs", remedy)
    except DaemonTimedOut:
        message = f"the daemon hangs: it does not answer within {HELLO_SECONDS:g} s"
        yield Finding("daemon", "problem", message, "see `mem logs`; then `mem stop` and `mem start`")
    except SiftdError as error:
        yield Finding("daemon", "problem", error.message, error.hint or "`mem stop`, then `mem start`")
    yield from _check_state({**(info or read_files(context)), **read_marker_files(context.paths)})


def _check_hello(hello: HelloAnswer) -> Finding:
    if hello["version"] != siftd.__version__:
        message = f"the daemon is of version {hello['version']}, this is {siftd.__version__}"
        return Finding("daemon", "problem", message, "`mem stop`, then `mem start`")
    return Finding("daemon", "ok", f"up {format_duration(hello['uptimeMs'])}, pid {hello['pid']}")


def _check_state(state: State) -> Iterator[Finding]:
    abnormal = list(find_abnormal(state))
    yield from abnormal
    if state["backend"]["state"] == "ready":
        yield Finding("backend", "ok", state["backend"]["name"])
    for link, message in _WELL.items():
        if not any(finding.link == link for finding in abnormal):
            yield Finding(link, "ok", message)
