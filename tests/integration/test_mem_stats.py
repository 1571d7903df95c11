"""`mem stats` at a terminal, in a pipe and for programs: one set of figures, which a person with sqlite3 counts too."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import subprocess
import time
from collections import Counter

import pytest
from daemons import Place
from terminals import MEM, seen_at

from siftd.cli.columns import width_of

pytestmark = pytest.mark.slow
DAY = 86_400_000
HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202eevil\u200b部署"
PARTS = ("captured", "given", "of little use", "replaced", "events", "drain", "storage")
ON = "date(ts / 1000, 'unixepoch', 'localtime')"


@pytest.fixture
def filled(place: Place) -> Place:
    """A workspace with captures on some of sixty days, hostile names among them, that no daemon serves any more."""
    place.start()
    now = time.time_ns() // 1_000_000
    with place.client() as client:
        for number in range(60):
            said = {"stdout": "mail a@b.example" if number % 4 else "token ghp_" + "a1B2c3D4e5F6" * 3}
            event = {
                "kind": "capture",
                "sessionId": f"s{number % 5}{HOSTILE}",
                "tool": f"mcp__{HOSTILE}__{number % 3}" if number % 2 else "Bash",
                "payload": {"tool_input": {"command": f"make {HOSTILE} part{number % 9}"}, "tool_response": said},
                "ts": now - number * DAY - 1000,
            }
            client.request(event, timeout=10)
        client.request({"kind": "remember", "text": f"Deploys wait {HOSTILE} for a green build. " * 9}, timeout=10)
        client.request({"kind": "drain"}, timeout=60)
    place.stop()
    with contextlib.closing(sqlite3.connect(place.paths.database)) as store, store:
        store.executemany(
            "INSERT INTO injections (ts, session_id, hook, piece, event_id, after_id, why)"
            " VALUES (?, ?, ?, ?, ?, 60, '{}')",
            [(now - 9 * n * DAY, f"s{n}", HOSTILE, f"e{1 + n % 2}", 1 + n % 2) for n in range(6)],
        )
    return place


def stats(place: Place, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(MEM), "stats", *arguments], cwd=place.folder, env=place.env, capture_output=True, text=True, check=True
    )


def test_the_figures_for_programs_are_those_that_sql_finds(filled: Place) -> None:
    found = json.loads(stats(filled, "--json").stdout)
    assert len(found["days"]) == 30, "there is a capture on each day"
    since = found["since"]
    assert [(each["day"], each["events"], each["sessions"]) for each in found["days"]] == filled.rows(
        f"SELECT {ON}, count(*), count(DISTINCT session_id) FROM events WHERE ts >= ? GROUP BY 1 ORDER BY 1", since
    )
    payloads = filled.rows("SELECT payload_json FROM events WHERE ts >= ?", since)
    rules = Counter(rule for (each,) in payloads for rule in re.findall(r"\[REDACTED:([a-z0-9-]+)", each))
    assert {each["rule"]: each["replaced"] for each in found["replaced"]} == dict(rules)
    assert [(each["tool"], each["events"]) for each in found["tools"]] == filled.rows(
        "SELECT tool, count(*) FROM events WHERE ts >= ? GROUP BY 1 ORDER BY 2 DESC, 1", since
    )
    ((pieces, sessions),) = filled.rows(
        "SELECT count(*), count(DISTINCT session_id) FROM injections WHERE ts >= ?", since
    )
    assert (found["injections"]["pieces"], found["injections"]["sessions"]) == (pieces, sessions)
    assert pieces == sum(each["pieces"] for each in found["weeks"]) > 0
    again = filled.rows("SELECT piece, count(*) FROM injections WHERE ts >= ? GROUP BY 1 HAVING count(*) > 1", since)
    assert {each["piece"]: each["given"] for each in found["offenders"]} == dict(again)
    assert filled.pid() is None, "looking starts no daemon"


def test_a_daemon_answers_with_the_same_figures(filled: Place) -> None:
    filled.start()
    told = json.loads(stats(filled, "--json", "--days", "40").stdout)
    moving = ("until", "storage")
    answered = filled.ask("stats", days=40)
    assert {name: told[name] for name in told if name not in moving} == {
        name: answered[name] for name in answered if name not in moving
    }


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("days", ["30", "60"])
def test_no_line_is_wider_than_the_terminal_and_nothing_hostile_reaches_it(
    filled: Place, columns: int, days: str
) -> None:
    shown = seen_at(
        columns, [str(MEM), "stats", "--days", days], filled.env | {"TERM": "xterm-256color"}, filled.folder
    )
    lines = shown.splitlines()
    assert max(map(width_of, lines)) <= columns
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e]", shown)
    assert any("█" in line for line in lines)
    assert all(re.search(rf"^(.* )?{each} ", shown, re.MULTILINE) for each in PARTS)


def test_in_a_pipe_there_are_no_colours_and_eighty_columns(filled: Place) -> None:
    shown = stats(filled).stdout
    assert "\x1b" not in shown
    assert max(map(width_of, shown.splitlines())) <= 80


def test_without_unicode_bars_are_made_of_ascii(filled: Place) -> None:
    done = subprocess.run(
        [str(MEM), "stats"],
        cwd=filled.folder,
        env=filled.env | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        check=True,
    )
    assert b"####" in done.stdout
    assert done.stdout.isascii()


def test_an_empty_memory_says_the_next_step(place: Place) -> None:
    done = stats(place)
    assert done.stdout == ""
    assert "nothing is remembered" in done.stderr
    assert "`mem install`" in done.stderr
    assert json.loads(stats(place, "--json").stdout)["days"] == []
    assert not place.home.exists() or place.pid() is None
