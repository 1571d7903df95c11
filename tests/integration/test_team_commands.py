"""`mem team` as a person types it, and a daemon whose team's server hangs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from uuid import uuid4

import pytest
from daemons import Place, wait_until
from team_stand_in import BEN, Refusal, TeamStandIn, team_server
from terminals import MEM, mem_at_a_terminal, seen_at

INVITE = "ana" * 20


@pytest.fixture
def server() -> Iterator[TeamStandIn]:
    with team_server() as found:
        yield found


def mem(place: Place, *arguments: str, says: str = "", env: dict[str, str] | None = None) -> tuple[int, str, str]:
    done = subprocess.run(
        [str(MEM), *arguments], cwd=place.folder, env=place.env | (env or {}), input=says, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def join(place: Place, server: TeamStandIn) -> None:
    status, _, err = mem(place, "team", "join", server.url, "--project", "okapi", "--yes", says=INVITE)
    assert status == 0, err


def test_a_person_looks_joins_pushes_pulls_and_leaves(place: Place, server: TeamStandIn) -> None:
    place.start()
    assert "has joined no team" in mem(place, "team")[1]
    mem(place, "remember", "Okapis eat hay.")
    status, out, err = mem(place, "team", "join", "--dry-run")
    assert (status, out.split()) == (0, "memory Okapis eat hay.".split())
    assert "nothing did" in err
    (line,) = mem(place, "team", "join", "--dry-run", "--json")[1].splitlines()
    assert json.loads(line)["text"] == "Okapis eat hay."
    assert server.asked == []
    status, _, err = mem(place, "team", "join", server.url, "--project", "okapi")
    assert status == 1
    assert "1  memory that was kept on purpose" in err
    assert "--yes goes on" in err
    join(place, server)
    wait_until("it goes up by itself", lambda: "Okapis eat hay." in server.texts())
    assert mem(place, "team", "push")[0] == 0
    assert "0 went" in mem(place, "team", "pull")[1]
    assert json.loads(mem(place, "team", "status", "--json")[1])["shared"] == {"memory": 1}
    assert "Ana" in mem(place, "team", "members")[1]
    assert "okapi" in mem(place, "info")[1]
    status, out, _ = mem(place, "team", "leave", "--forget-shared", "--yes")
    assert (status, out) == (0, "left okapi; 1 item forgotten there\n")
    assert server.texts() == {}


def test_the_invitation_is_asked_for_at_a_terminal_or_read_from_a_file(place: Place, server: TeamStandIn) -> None:
    place.start()
    file = place.root / "invite"
    file.write_text(f"{INVITE}\n")
    arguments = ("team", "join", server.url, "--project", "okapi", "--invite-file", str(file))
    status, shown = mem_at_a_terminal(place.env, place.folder, *arguments, keys="n\n")
    assert (status, server.devices) == (1, {})
    assert f"server   {server.url} (siftd 9.9)" in shown
    assert "no event and no payload ever does" in shown
    status, shown = mem_at_a_terminal(place.env, place.folder, *arguments, keys="yes\n")
    assert status == 0, shown
    assert INVITE not in shown


def test_an_agent_joins_no_team(place: Place, server: TeamStandIn) -> None:
    place.start()
    arguments = ("team", "join", server.url, "--project", "okapi", "--yes")
    status, _, err = mem(place, *arguments, says=INVITE, env={"CLAUDECODE": "1"})
    assert status == 2
    assert "a person joins a team" in err
    assert server.asked == []


@pytest.mark.parametrize("columns", [80, 200])
def test_the_state_of_a_team_fits_a_terminal(place: Place, server: TeamStandIn, columns: int) -> None:
    server.ignore = {"secret plan": "secret"}
    place.start()
    join(place, server)
    mem(place, "remember", "The secret plan is hay.")
    mem(place, "team", "push")
    shown = seen_at(columns, [str(MEM), "team"], place.env, place.folder)
    assert max(map(len, shown.splitlines())) <= columns
    for word in ("okapi at http://127.0.0.1", "parked", "a secret", "this one"):
        assert word in shown, shown


def test_it_is_said_which_devices_have_not_applied_a_forgetting(place: Place, server: TeamStandIn) -> None:
    place.start()
    nothing = (0, "nothing that was forgotten is known to be held anywhere any more\n", "")
    assert mem(place, "forget", "--status") == nothing
    join(place, server)
    assert mem(place, "forget", "--status") == nothing
    kept = mem(place, "remember", "Okapis eat hay.", "--json")
    assert kept[0] == 0, kept
    assert mem(place, "team", "push")[0] == 0
    server.devices[uuid4()] = "ana\x1b[2J laptop", BEN, 0
    server.refuse["push"] = Refusal(503)
    done = mem(place, "forget", json.loads(kept[1])["id"], "--yes")
    assert done[0] == 0, done
    assert mem(place, "forget", "--status")[1] == "1 item: the team's server does not know of it yet\n"
    server.refuse.clear()
    mem(place, "team", "push")
    mem(place, "team", "pull")
    (line,) = mem(place, "forget", "--status")[1].splitlines()
    assert ": applied by 1 of 2 devices; ana\ufffd[2J laptop last seen " in line
    assert line.removeprefix("1 item, ") in mem(place, "team", "status")[1], "the same words"
    told = json.loads(mem(place, "forget", "--status", "--json")[1])
    assert (told["pending"], told["forgetsWaiting"], told["team"]["name"]) == ([], 0, "okapi")
    assert [each["applied"] for each in told["forgets"]] == [1]
    status, _, err = mem(place, "forget", "m1", "--status")
    assert (status, "about all that was forgotten" in err) == (2, True)


def test_a_server_that_hangs_delays_neither_captures_nor_searches_nor_the_end(
    place: Place, server: TeamStandIn
) -> None:
    """Whoever waited for an answer here would wait for an hour."""
    patient = {f"siftd.team_sync.client.{name}": 3600.0 for name in ("ANSWER_SECONDS", "CONNECT_SECONDS")}
    place.start("--set", "daemon.idleExitMs=7200000", patches=patient)
    join(place, server)
    server.is_hung = True
    mem(place, "remember", "Okapis eat hay.")
    for number in range(20):
        assert place.capture(number)["eventId"]
    assert place.ask("search", query="okapis hay")["hits"]
    assert place.ask("info")["team"]["waiting"] == 1
    daemon = place.daemons[-1]
    place.stop()
    assert daemon.wait(60) == 0


def test_a_daemon_that_nobody_needs_ends_although_its_team_is_listened_to(place: Place, server: TeamStandIn) -> None:
    place.start("--set", "daemon.idleExitMs=1500")
    join(place, server)
    wait_until("it listens", lambda: "changes" in server.asked)
    assert place.daemons[-1].wait(60) == 0
    assert place.log_lines("idle_exit")


def test_a_workspace_without_a_team_loads_no_http_client_and_no_reader_of_issues() -> None:
    names = {"httpx", "psycopg", "siftd.team.sources", "siftd.team_sync.source_import"}
    load = "import sys; from siftd.daemon.server import load_services; load_services()"
    code = f"{load}; print({names} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
