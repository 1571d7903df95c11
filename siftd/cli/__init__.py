"""`mem`, the person's command: facts on standard output, everything else on standard error.

Exit status: 0 done, 1 failed, 2 misused, 3 no daemon and none could be started. Agents wait for `mem search` and
`mem info`, so a verb's module is imported when it is chosen, and what it needs when it is needed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from siftd.cli.command_table import choose, load, parse
from siftd.errors import DaemonUnreachable, MatchChanged, NothingFound, RequestInvalid, RequestRefused, SiftdError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

DONE = 0
FAILED = 1
MISUSED = 2
NO_DAEMON = 3
INTERRUPTED = 130


def main() -> NoReturn:
    """Be the process `mem`. It ends without tearing the interpreter down, which would cost 5 ms at every call."""
    status = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # behind help, which ends before `run` has flushed: whoever read us has seen enough
        status = FAILED
    sys.stderr.flush()
    os._exit(status)


def run(arguments: Sequence[str]) -> int:
    """Run `mem` with `arguments` and return its exit status; what went wrong is one line on standard error."""
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except SystemExit as exit_:  # argparse's way to end after help or a usage error
        return exit_.code if isinstance(exit_.code, int) else DONE
    except SiftdError as error:
        print(f"mem: {error.message}; {error.hint}" if error.hint else f"mem: {error.message}", file=sys.stderr)
        return status_of(error)
    except BrokenPipeError:
        # Whoever read us has seen enough; what is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        print(f"mem: {error.filename or 'the system'}: {error.strerror}; see `mem doctor`", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _run(arguments: Sequence[str]) -> int:
    from siftd.cli.context import Context
    from siftd.cli.diagnose.hook_failures import report_unseen

    verb, rest = choose(arguments)
    module = load(verb)
    options = parse(verb, module, rest)
    environ = dict(os.environ)
    if verb == "slash":  # the agent runs it, with what a project's settings say: see `siftd.wire.environment`
        environ.pop("SIFTD_WORKSPACE", None)
    context = Context.of(options, environ)
    if verb != "doctor":
        report_unseen(context.home)
    status: int = module.run(context, options)
    return status


def status_of(error: SiftdError) -> int:
    match error:
        case DaemonUnreachable():
            return NO_DAEMON
        case RequestInvalid():
            return MISUSED
        case RequestRefused(code=RequestInvalid.code | NothingFound.code | MatchChanged.code):
            return MISUSED
        case _:
            return FAILED
