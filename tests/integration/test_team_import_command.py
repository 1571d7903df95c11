"""`mem import --source` as a person types it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemons import Place
from team_stand_in import Refusal, TeamStandIn, team_server
from terminals import MEM

DATA = Path(__file__).parents[1] / "data" / "sources"
ISSUES = ("import", "--source", "issue", "--from", "github", str(DATA / "github-issues.json"))


@pytest.fixture
def server() -> Iterator[TeamStandIn]:
    with team_server() as found:
        found.sources = ["issue"]
        yield found


def mem(place: Place, *arguments: str, says: str = "") -> tuple[int, str, str]:
    done = subprocess.run(
        [str(MEM), *arguments], cwd=place.folder, env=place.env, input=says, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_issues_are_shown_then_sent_and_what_went_wrong_is_said(place: Place, server: TeamStandIn) -> None:
    place.start()
    status, _, err = mem(place, *ISSUES)
    assert status == 2
    assert "has joined no team" in err
    assert "mem team join" in err
    assert mem(place, "team", "join", server.url, "--project", "okapi", "--yes", says="ana" * 20)[0] == 0
    status, out, err = mem(place, *ISSUES, "--dry-run")
    assert "issue github.com/acme/shop/issues/12: Login fails with an expired token" in out
    assert "2 issues read; 2 items would go to okapi, 0 forgotten, 0 there already" in out
    assert "2 places of the file passed over, no. 3: no address" in err
    assert server.pushed == []
    server.refuse = {"push": Refusal(502)}
    status, _, err = mem(place, *ISSUES)
    assert status == 1
    assert "it ended early: the team's server" in err
    assert "run the same command again" in err
    server.refuse = {}
    assert "2 items went to okapi" in mem(place, *ISSUES)[1]
    assert json.loads(mem(place, *ISSUES, "--json")[1])["unchanged"] == 2
    status, _, err = mem(place, "import", "--source", "comment", "--from", "github", str(DATA / "github-comments.json"))
    assert status == 2
    assert "okapi takes no comments" in err
    assert "siftd team sources okapi --on comment" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--source", "issue"), "a file is wanted"),
        (("--source", "issue", "--from", "rekal", "x"), "rekal has no issues"),
        (("--from", "github", "x"), "it is not said what the file holds"),
        (("--source", "issue", "/nowhere/x.json"), "joined no team"),
    ],
)
def test_what_is_asked_wrongly_is_refused_with_the_remedy(place: Place, arguments: tuple[str, ...], said: str) -> None:
    place.start()
    status, _, err = mem(place, "import", *arguments)
    assert status == 2
    assert said in err
