"""What `mem web` does: find the process that serves this home's page or start it, and log a browser in.

It loads neither Starlette nor uvicorn. The code that logs a page in goes to the browser by a file of mode 0600, which
posts it: in an address it would stand in the browser's history, and in the list of processes while that starts. It is
printed too, for a machine without a browser.
"""

from __future__ import annotations

import html
import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from siftd.errors import DaemonTimedOut, DaemonUnreachable, ProtocolError, RequestRefused
from siftd.foreign_file import open_regular
from siftd.resources import entry_point
from siftd.wire.environment import of_daemon
from siftd.workspace.home import ensure_folder, write_private
from siftd.workspace.paths import Home

START_SECONDS = 30.0
ANSWER_SECONDS = 10.0
_FILE_BYTES_MAX = 64 * 1024
_POLL_SECONDS = 0.02
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>siftd</title></head>
<body><form method="post" action="{address}login" id="login"><input type="hidden" name="code" value="{code}">
<noscript><button>Open siftd</button></noscript></form>
<script>document.getElementById("login").submit()</script></body></html>
"""


@dataclass(frozen=True, slots=True)
class Serving:
    """A process that serves the page."""

    port: int
    pid: int
    version: str
    token: str

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"


def find_serving(home: Home) -> Serving | None:
    """Return the process that serves this home's page, if one answers.

    It holds the home's lock for its life: what one that was killed has left behind is not believed, for by now another
    user's program may listen at its port.
    """
    if not _is_held(home.web_lock):
        return None
    try:
        with open_regular(home.web_state) as file:
            state = json.loads(file.read(_FILE_BYTES_MAX))
        with open_regular(home.web_token) as file:
            token = file.read(_FILE_BYTES_MAX).decode()
        serving = Serving(int(state["port"]), int(state["pid"]), str(state["version"]), token)
        _ask(serving, "GET", "/health")
    except (OSError, ValueError, KeyError, TypeError, DaemonUnreachable, DaemonTimedOut, ProtocolError):
        return None
    return serving


def start_serving(home: Home, environ: Mapping[str, str], port: int) -> Serving:
    """Start the process, and return once it listens. Raises DaemonUnreachable with the reason when it does not."""
    for folder in (home.run, home.logs):
        ensure_folder(folder)
    with _open_log(home.web_log) as log:
        process = subprocess.Popen(
            [sys.executable, "-I", entry_point(), "web", "--port", str(port), "--detached"],
            cwd="/",
            env=of_daemon(environ) | {"SIFTD_HOME": home.root, "SIFTD_NS": home.namespace},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            umask=0o077,
        )
    assert process.stdout is not None
    with process.stdout:
        said = process.stdout.readline().decode("utf-8", "replace")
    answer = json.loads(said) if said.startswith("{") else {}
    if "port" not in answer:
        process.wait()
        if (serving := _wait_for(home)) is not None:  # another one was quicker
            return serving
        reason = answer.get("message") or f"it ended with status {process.returncode}"
        raise DaemonUnreachable(
            f"the page cannot be served: {reason}", hint=answer.get("hint") or f"see {home.web_log}"
        )
    process.returncode = 0  # it outlives us, which is the point: Popen would warn of it
    serving = find_serving(home)
    if serving is None:
        raise DaemonUnreachable("the page is served and does not answer", hint=f"see {home.web_log}")
    return serving


def make_code(serving: Serving) -> str:
    """Return a code that logs one page in, once, within a minute. Raises SiftdError."""
    return str(_ask(serving, "POST", "/api/codes")["code"])


def write_login(home: Home, serving: Serving, code: str) -> str:
    """Return the `file:` address of a page that logs a browser in; the process deletes it once the code is used."""
    page = _PAGE.format(address=html.escape(serving.address), code=html.escape(code))
    write_private(Path(home.web_login), page.encode())
    return Path(home.web_login).as_uri()


def end_serving(serving: Serving) -> None:
    """End the process in good order."""
    _ask(serving, "POST", "/api/end")


def _wait_for(home: Home) -> Serving | None:
    """Return the process that holds the lock, once it listens; None where nobody does."""
    deadline = time.monotonic() + START_SECONDS
    while (serving := find_serving(home)) is None and _is_held(home.web_lock) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return serving


def _is_held(path: str) -> bool:
    import fcntl

    with suppress(OSError), Path(path).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _ask(serving: Serving, method: str, path: str) -> dict[str, object]:
    connection = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=ANSWER_SECONDS)
    try:
        connection.request(method, path, headers={"authorization": f"Bearer {serving.token}"})
        response = connection.getresponse()
        answer = json.loads(response.read())
    except TimeoutError as error:
        raise DaemonTimedOut("the page's process does not answer", hint="see `mem doctor`") from error
    except OSError as error:
        raise DaemonUnreachable("the page is not served", hint="run `mem web` again") from error
    except (ValueError, http.client.HTTPException) as error:
        raise ProtocolError("what listens there is not siftd's page") from error
    finally:
        connection.close()
    if not isinstance(answer, dict):
        raise ProtocolError("what listens there is not siftd's page")
    if response.status >= 400:
        problem = answer.get("error", {})
        raise RequestRefused(problem.get("code", "error"), problem.get("message", ""), hint=problem.get("hint", ""))
    return answer


def _open_log(path: str) -> IO[bytes]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    return os.fdopen(descriptor, "wb")
