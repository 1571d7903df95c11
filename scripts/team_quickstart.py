"""Run the commands of docs/team.md, from a fresh clone to a working team, as they stand on the page.

    .venv/bin/python scripts/team_quickstart.py [--installed]

They run in a throw-away home, one shell for all of them, against a PostgreSQL that is started for it. Two things differ
from what a person types: where PostgreSQL is (`SIFTD_TEAM_DSN`), and that an invitation is pasted by this script.
With `--installed` the step that installs is left out, and the siftd of this environment is used.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))

from postgres import NoPostgres, Postgres, add_vectors, make_database, running  # noqa: E402

PAGE = REPOSITORY / "docs" / "team.md"
SECTION = "## From a fresh clone to a working team"
SECONDS = 900


def commands(page: str) -> list[str]:
    """Return the commands of the page's section, each with the lines that it goes on over."""
    section = page.partition(SECTION)[2].partition("\n## ")[0]
    found: list[str] = []
    for block in re.findall(r"```console\n(.*?)```", section, re.DOTALL):
        goes_on = False
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(line[2:])
            elif goes_on:
                found[-1] += f"\n{line}"
            goes_on = (line.startswith("$ ") or goes_on) and line.endswith("\\")
    return found


class Terminal:
    """A shell in a terminal, and somebody who pastes invitations and says yes."""

    def __init__(self, script: str, environment: dict[str, str], folder: Path) -> None:
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-eu", "-c", script], cwd=folder, env=environment,
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.shown = ""
        self._answered = 0

    def run(self, seconds: float) -> int:
        """Answer what is asked until the shell ends; return its exit status."""
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end and select.select([self._ours], [], [], max(0.0, end - time.monotonic()))[0]:
                try:
                    piece = os.read(self._ours, 4_096)
                except OSError:  # Linux says so when the other side has closed
                    break
                if not piece:
                    break
                self.shown += piece.decode("utf-8", "replace")
                self._answer()
            return self._process.wait(max(1.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            return -1
        finally:
            self._process.kill()
            self._process.wait()
            os.close(self._ours)

    def _answer(self) -> None:
        """Press keys for a question that is new: yes, or the next invitation that was printed."""
        fresh = self.shown[self._answered :]
        if fresh.endswith("[y/N] "):
            keys = "y"
        elif fresh.endswith("invitation: "):
            keys = self._invitations().pop(self.shown.count("invitation: ") - 1)
        else:
            return
        self._answered = len(self.shown)
        os.write(self._ours, f"{keys}\n".encode())

    def _invitations(self) -> list[str]:
        return re.findall(r"invitation for \S+,[^:\n]*: (\S+)", self.shown)


def run(postgres: Postgres, home: Path, *, installed: bool) -> str:
    """Run the page's commands in a home; return what the terminal showed. Raises SystemExit where one failed."""
    database = make_database(postgres, owner="postgres")
    add_vectors(database)
    port = free_port()
    steps = [each for each in commands(PAGE.read_text(encoding="utf-8")) if not (installed and "pip install" in each)]
    script = "\n".join(_adapted(each, database.superuser, port) for each in steps)
    script = "set -v\n" + script + "\n"
    environment = {
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}" if installed else os.environ["PATH"],
        "SIFTD_HOME": str(home / ".siftd"),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
    }
    terminal = Terminal(script, environment, REPOSITORY if not installed else home)
    mem = f"{home}/.siftd-env/bin/mem" if not installed else str(Path(sys.executable).with_name("mem"))

    def run_mem(folder: Path, *arguments: str) -> None:
        subprocess.run([mem, *arguments], cwd=folder, env=environment, capture_output=True, check=False)

    try:
        status = terminal.run(SECONDS)
        if status != 0:
            raise SystemExit(f"{terminal.shown}\nthe commands of {PAGE.name} failed: {status}")
        run_mem(home / "try" / "ben", "web", "--no-open")
        if not page_finds(home / ".siftd" / "default" / "run"):
            raise SystemExit(f"{terminal.shown}\nthe page does not find what ana has kept")
        return terminal.shown
    finally:
        for folder in sorted((home / "try").glob("*")):
            run_mem(folder, "web", "--stop")
            run_mem(folder, "stop")
        _end_server(home)


def page_finds(run_folder: Path) -> bool:
    """Whether the page's search finds an item of the team in one of the workspaces."""
    port = json.loads((run_folder / "web.json").read_text())["port"]
    token = (run_folder / "web.token").read_text().strip()

    def ask(path: str) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/api/{path}", headers={"Authorization": f"Bearer {token}"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    found = (ask(f"projects/{each['id']}/memory/search?q=queue+on+Postgres") for each in ask("projects")["projects"])
    return any('"t1"' in json.dumps(each) for each in found)


def _adapted(command: str, dsn: str, port: int) -> str:
    """Return a command with what differs here: where PostgreSQL is, and a port that is free."""
    command = re.sub(r"export SIFTD_TEAM_DSN='[^']*'", f"export SIFTD_TEAM_DSN='{dsn}'", command)
    return re.sub(r"siftd team (serve|health)", rf"siftd team \1 --port {port}", command).replace(":7433", f":{port}")


def _end_server(home: Path) -> None:
    """End the server that the page has started, by the number that it printed."""
    for line in (home / "serve.log").read_text().splitlines() if (home / "serve.log").exists() else []:
        found = re.match(r'\{"port":\s*\d+,\s*"pid":\s*(\d+)\}', line)
        if found:
            with suppress(ProcessLookupError):
                os.kill(int(found[1]), signal.SIGTERM)
                while True:  # it gives up whatever it does after five seconds
                    os.kill(int(found[1]), 0)
                    time.sleep(0.05)


def free_port() -> int:
    """Return a port of the loopback that nobody listens at."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def main(arguments: list[str]) -> int:
    home = Path(tempfile.mkdtemp(prefix="siftd-team-"))
    try:
        with running(18) as postgres:
            print(run(postgres, home, installed="--installed" in arguments))
    except NoPostgres as error:
        print(f"no PostgreSQL to run it on: {error}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print("A team of two works on this machine. Nothing is left running, and nothing was written elsewhere.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
