"""A kill at any step of a sync, a person who edits all the while, many syncs at once: no note is lost, none doubled."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from notebook import Notebook

from siftd.notes import sync as syncing
from siftd.notes.cursors import load

pytestmark = pytest.mark.slow
MOST = int(os.environ.get("SIFTD_TEST_KILLS", "14")) * 2
KILLED = """
import json, os, signal, sys
from siftd.clock import SystemClock
from siftd.config import Settings
from siftd.notes import registry, sync
from siftd.notes.surroundings import Surroundings
from siftd.workspace.paths import Home

root, last, values = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
count = 0
CHANGES = {"os.rename", "os.remove", "os.link", "os.mkdir", "os.truncate", "ctypes.dlsym"}

def step(*_):
    global count
    count += 1
    if count == last:
        os.kill(os.getpid(), signal.SIGKILL)

def hear(name, told):
    is_open = name == "open" and isinstance(told[2], int) and told[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if (name in CHANGES or is_open) and root in str(told[0]) + str(told[1:2]):
        step()

fsync = os.fsync
def counted(descriptor):
    step()
    fsync(descriptor)
    step()

environ = {"PATH": "/usr/bin:/bin", "HOME": root}
around = Surroundings(Home(root + "/home"), Settings.of(values), environ, root, SystemClock())
project = registry.load(around.home).projects[0]
from siftd.notes import replacing
exchange = replacing._exchange()
def counted_exchange(one, other):
    step()
    exchange(one, other)
    step()
replacing._exchange = lambda: counted_exchange
os.fsync = counted
sys.addaudithook(hear)
outcome = sync.sync(project, around, trigger="manual")
print(json.dumps([outcome.status, count]))
"""
"""Runs one sync and kills itself at one of the steps that change files below its root."""


def run_killed(book: Notebook, step: int) -> tuple[str, int] | None:
    """Run a sync in a process that is killed at a step; return its status and how many steps there are otherwise."""
    values = {name: value for name, value in book.around.settings.by_key().items() if name.startswith("notes.")}
    values |= {"memory.dailyTokenCap": 1_000_000}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(book.root), str(step), json.dumps(values)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == -signal.SIGKILL:
        return None
    assert done.returncode == 0, done.stderr
    status, count = json.loads(done.stdout.splitlines()[-1])
    return status, count


def ready(root: Path) -> Notebook:
    """Return a project with a turn to distil, a note in the inbox, and a curator who takes both in."""
    book = Notebook(root, notes__curate=True)
    book.write_body("decisions", "# Decisions\n\n- Old decision")
    book.write_body("mistakes", "# Mistakes\n\n### 2026-11-01 — Old\n- Symptom: slow")
    book.transcript(("One", "First."))
    book.drop("Remember the milk")
    book.says(
        summary="Milk.",
        state_body="# State\n\n- Remember the milk",
        decisions_body="# Decisions\n\n- New decision",
        mistakes_new_entries=["### 2026-11-25 — New\n- Symptom: First."],
    )
    return book


def check_once_and_whole(book: Notebook) -> None:
    """Everything stands in the notes once, nothing is left to do, nothing of ours is left lying about."""
    assert book.body("state") == "# State\n\n- Remember the milk"
    assert book.body("decisions") == "# Decisions\n\n- New decision"
    assert book.body("mistakes").count("### 2026-11-25 — New") == 1
    assert book.body("mistakes").count("### 2026-11-01 — Old") == 1
    assert book.archive().count("- Old decision") == 1
    assert list(Path(book.project.inbox).glob("*.md")) == []
    assert not list(Path(book.project.claimed).iterdir())
    assert not list(Path(book.project.folder).glob(".*.siftd"))
    assert not Path(book.books.journal).exists()
    assert load(book.books).transcripts


def test_a_kill_at_any_step_loses_no_note_and_doubles_none(tmp_path: Path) -> None:
    status = run_killed(ready(tmp_path / "whole"), -1)
    assert status is not None
    assert status[0] == "done"
    total = status[1]
    tried = sorted({1 + number * (total - 1) // (MOST - 1) for number in range(MOST)})
    print(f"{total} steps, killed at {tried}")
    for step in tried:
        book = ready(tmp_path / str(step))
        run_killed(book, step)
        book.sync()
        check_once_and_whole(book)


def test_a_person_who_edits_all_the_while_loses_nothing(tmp_path: Path) -> None:
    rounds = int(os.environ.get("SIFTD_TEST_EDITS", "100"))
    book = Notebook(tmp_path, notes__curate=True)
    typed: list[str] = []
    state = Path(book.project.file("state"))
    is_over = threading.Event()

    def type_on(number: int) -> None:
        """Add a line as editors do: by a new file under the old name, or in place."""
        text = state.read_text() + f"- typed {number}\n"
        if number % 2:
            fresh = state.with_suffix(".tmp")
            fresh.write_text(text)
            if state.read_text() + f"- typed {number}\n" != text:
                return  # the editor would ask: the file has changed on disk
            fresh.replace(state)
        else:
            with state.open("a") as file:
                file.write(f"- typed {number}\n")
        typed.append(f"- typed {number}")

    def person() -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            type_on(number)

    thread = threading.Thread(target=person)
    (book.curator / "curator.py").write_text(
        "import json, re, sys\n"
        "asked = sys.stdin.read()\n"
        "body = re.search(r'state.md, as it is:\\n(=== \\w+)\\n(.*?)\\n\\1', asked, re.S)[2]\n"
        "print(json.dumps({'state_body': body + '\\n- distilled'}))\n"
    )
    thread.start()
    try:
        for number in range(rounds):
            book.drop(f"round {number}", name=f"{number}.md")
            book.sync()
    finally:
        is_over.set()
        thread.join()
    everything = state.read_text() + book.archive() + "".join(
        each.read_text() for each in Path(book.project.inbox).rglob("*.md")
    )  # fmt: skip
    lines = {line.strip() for line in everything.splitlines()}
    assert [line for line in typed if line not in lines] == []


def test_many_syncs_at_once_over_several_projects_lose_no_cursor(tmp_path: Path) -> None:
    books = [Notebook(tmp_path, path=f"proj-{number}", notes__curate=True) for number in range(5)]
    for number, book in enumerate(books):
        book.transcript((f"asked {number}", "First."), session=f"{number}0000000-0000-4000-8000-000000000001")
        book.drop(f"note of {number}")
        book.says(summary="-")
    with ThreadPoolExecutor(10) as pool:
        outcomes = list(pool.map(lambda book: syncing.sync(book.project, book.around, trigger="manual"), books * 2))
    for book in books:
        book.sync()
        assert book.sync().status == "nothing"
        assert len(load(book.books).transcripts) == 1
    assert {outcome.status for outcome in outcomes} <= {"done", "locked", "nothing"}
    asked = books[0].prompts
    for number in range(5):
        assert len([prompt for prompt in asked if f"asked {number}" in prompt]) == 1
        assert len([prompt for prompt in asked if f"note of {number}" in prompt]) == 1
