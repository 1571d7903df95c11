"""The lines of docs/team-api.md do what they say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from postgres import NoPostgres, make_team_database, running
from team_service import join, run_team, team_service

from siftd.team_server.table import ROUTES

DOCUMENT = (Path(__file__).parents[3] / "docs" / "team-api.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", DOCUMENT, re.DOTALL)


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_the_documented_lines_work_one_after_the_other() -> None:
    try:
        with running(18) as postgres:
            database = make_team_database(postgres)
            with team_service(database.app) as service:
                ana = join(service, database, "ana")
                ana.push(ana.put("The job queue ran on Redis"))
                made = run_team("token", "lab", "script", environ={"SIFTD_TEAM_DSN": database.operator})
                said = {
                    "PATH": os.environ["PATH"],
                    "TOKEN": made.stdout.strip(),
                    "SERVER": f"http://{service.host}",
                    "PROJECT": str(ana.project),
                }
                script = "set -eu\n" + "\necho\necho ---\n".join(BLOCKS)
                done = subprocess.run(["sh", "-c", script], env=said, capture_output=True, text=True, check=False)
    except NoPostgres as error:
        pytest.skip(f"NO POSTGRESQL: {error}")
    assert done.returncode == 0, (done.stdout, done.stderr)
    parts = [part.strip() for part in done.stdout.split("---")]
    answers = [[json.loads(line) for line in re.sub(r"\}\{", "}\n{", part).splitlines() if line] for part in parts]
    assert [len(each) for each in answers] == [0, 1, 1, 2, 1, 1, 1, 1]
    assert answers[1][0]["hits"][0]["item"]["text"] == "The job queue ran on Redis"
    assert answers[3][1]["item"]["text"] == "The job queue runs on Postgres"
    assert answers[5][0]["forgotten"] == [answers[2][0]["id"]]
    assert answers[7][0]["openapi"].startswith("3.1")


def test_the_documented_routes_are_the_ones_that_are_there() -> None:
    table = DOCUMENT.partition("| route | what it does |")[2].partition("## What an answer says")[0]
    named = {each.partition("?")[0] for each in re.findall(r"`(?:GET |POST |DELETE )?((?:/|…/)[^`]+)`", table)}
    full = set()
    for each in named:
        for start in ("/api/projects/:id", "/api/v1", "/api/v1/projects/:id", ""):
            full.add(each.replace("…", start) if "…" in each else start + each)
    paths = {re.sub(r"\{\w+\}", ":id", route.path) for route in ROUTES}
    assert paths - full == set()
