"""The life of the daemon: lock, bind, open, serve, and the way back in reverse.

The socket listens before the heavier imports and the replay, so that a client that comes meanwhile waits in the
backlog instead of being refused. Shutdown, each step once: stop accepting, answer what is in flight, let the batch
that is being summarised finish, close log and database, take the socket's name away, let go of the lock.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from siftd.config import is_excluded
from siftd.daemon.endpoint import Endpoint, Lock
from siftd.errors import DaemonAlreadyRunning, SiftdError
from siftd.wire.environment import keep_harmless
from siftd.wire.global_routing import workspace_of
from siftd.workspace.home import check_apart, ensure_workspace, load_settings
from siftd.workspace.paths import GLOBAL, Home

EXIT_FAILED = 1
EXIT_ALREADY_RUNNING = 5
EXIT_EXCLUDED = 6


def run(folder: str, *, is_detached: bool, flags: Sequence[str]) -> int:
    """Serve the workspace of `folder` until stopped; return the exit status.

    A failure is one line on standard error, without captured text; a courier keeps it with its back-off.
    """
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    keep_harmless(os.environ)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's: a second one spins on a core that the agent wants
    signal.signal(signal.SIGTERM, _end_early)
    sys.setswitchinterval(0.001)  # a search or a drain must not keep a capture waiting for the usual 5 ms
    try:
        home = Home.from_environment(os.environ, str(Path.home()))
        workspace = workspace_of(home, folder)
        paths = home.for_workspace(workspace.key)
        if workspace.key != GLOBAL:
            check_apart(home, folder, workspace.root)
        ensure_workspace(paths)
        lock = Lock(paths.lock)
        endpoint = Endpoint(paths)
        try:
            loaded = load_settings(home, flags)
            if is_excluded(workspace.root, loaded.settings):
                from siftd.daemon import saved_brief

                saved_brief.remove(paths)  # a hook would go on printing it
                print("capture.exclude excludes this workspace", file=sys.stderr)
                return EXIT_EXCLUDED

            _import_structlog()
            from siftd.daemon.upgrade_guard import UpgradeGuard

            package = UpgradeGuard()
            package.guard()

            from siftd.daemon.server import serve_until_stopped

            on_ready = _detach if is_detached else _announce
            serve_until_stopped(workspace, paths, loaded, endpoint, package, on_ready)
        finally:
            endpoint.close()
            lock.release()
    except DaemonAlreadyRunning as error:
        print(error.message, file=sys.stderr)
        return EXIT_ALREADY_RUNNING
    except SiftdError as error:
        print(f"{error.message}. {error.hint}" if error.hint else error.message, file=sys.stderr)
        return EXIT_FAILED
    except OSError as error:
        print(f"{error.filename or 'the system'}: {error.strerror}. see `mem doctor`", file=sys.stderr)
        return EXIT_FAILED
    except RuntimeError:  # the event loop starts a thread in order to end; what it was asked for is done by then
        print("no thread can be started. see `mem doctor`", file=sys.stderr)
        return EXIT_FAILED
    return 0


def _import_structlog() -> None:
    """Import it without `rich`, which draws `mem top`: structlog takes it wherever it is installed, for tracebacks on a
    terminal. A daemon has none, would start 0.1 s later and hold 8 MB more."""
    if "rich" in sys.modules:
        return
    sys.modules["rich"] = None  # type: ignore[assignment]  # Python's own way to say that there is none
    try:
        import structlog  # noqa: F401 - what imports it later finds it
    finally:
        del sys.modules["rich"]


def _end_early(*_: object) -> None:
    """End in good order before the server watches for signals itself: the socket has its name by then."""
    sys.exit(0)


def _detach() -> None:
    """Let go of whoever started us: their pipe for our errors, their folder."""
    os.chdir("/")
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _announce() -> None:
    print("siftd serves; stop it with Ctrl-C or `mem stop`", file=sys.stderr)
