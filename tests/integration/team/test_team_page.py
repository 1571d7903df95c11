"""docs/team.md leads from a clone to a working team by its commands alone, and names no command that is not there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from siftd.cli.commands.team import VERBS as MEM_VERBS
from siftd.team.sources.webhook import EVENTS
from siftd.team_server.command import VERBS

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = (REPOSITORY / "docs" / "team.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_commands_of_the_page_make_a_team_of_two_that_find_each_others_memories() -> None:
    script = REPOSITORY / "scripts" / "team_quickstart.py"
    done = subprocess.run([sys.executable, script, "--installed"], capture_output=True, text=True, check=False)
    if "no PostgreSQL to run it on" in done.stderr:
        pytest.skip(f"NO POSTGRESQL: {done.stderr}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r'"ana" +of the team\s+t1 +fact +The queue runs on Postgres', done.stdout), done.stdout


def test_every_command_of_the_team_that_is_named_exists() -> None:
    pages = [PAGE, (REPOSITORY / "docs" / "scale.md").read_text(encoding="utf-8")]
    for verb in re.findall(r"siftd team ([a-z]+)", "".join(pages)):
        assert verb in VERBS, verb
    for verb in re.findall(r"mem team ([a-z]+)", "".join(pages)):
        assert verb in MEM_VERBS, verb


def test_every_command_of_the_operator_is_documented() -> None:
    assert [verb for verb in VERBS if f"siftd team {verb}" not in PAGE] == []


def test_every_event_of_a_webhook_is_documented() -> None:
    assert [event for event in EVENTS if event not in PAGE] == []
