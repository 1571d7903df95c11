"""`mem entity` and `mem graph` against a real daemon that has built its graph from what was kept and captured."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from daemons import Place
from terminals import mem_at_a_terminal

from siftd.cli import DONE, FAILED, MISUSED, run

Mem = Callable[..., tuple[int, str, str]]
SAID = (
    "The auth service depends on Redis and the billing service.",
    "Alice works on the platform team.",
    "The platform team maintains the auth service.",
)


@pytest.fixture
def mem(place: Place, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Mem:
    for name, value in place.env.items():
        monkeypatch.setenv(name, value)
    for name in ("SIFTD_NS", "SIFTD_WORKSPACE", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(place.folder)

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(arguments)
        printed = capfdbinary.readouterr()
        return status, printed.out.decode(), printed.err.decode()

    for text in SAID:
        assert call("remember", text)[0] == DONE
    assert call("drain")[0] == DONE
    return call


def test_a_name_a_question_and_an_id_show_what_is_known_and_what_says_so(place: Place, mem: Mem) -> None:
    status, out, _ = mem("entity", "auth", "service")
    assert status == DONE
    assert re.match(r"auth( service)?  x\d+  service\n", out)
    assert "DEPENDS_ON Redis" in out
    assert SAID[0] in out
    cited = re.findall(r"x\d+", out)[0]
    assert mem("entity", cited)[1] == mem("entity", f"#{cited.upper()}")[1] == out
    status, out, _ = mem("entity", "What services does the auth service depend on?")
    assert status == DONE
    assert "billing" in out
    assert "DEPENDS_ON Redis" not in out  # no service
    status, out, _ = mem("entity", "What do I know about the platform team?")
    assert "Alice" in out
    assert "named by" in out
    assert json.loads(mem("entity", "platform team", "--json")[1])["entity"]["type"] == "team"


def test_what_is_around_an_entity_is_a_tree_and_a_way_is_told_step_by_step(place: Place, mem: Mem) -> None:
    status, out, _ = mem("graph", "platform team", "--depth", "2")
    assert status == DONE
    assert out.startswith("platform team  x")
    assert re.search(r"\n[├└]─ WORKS_ON [←→] ", out)
    assert re.search(r"\n(│|\s)\s+[├└]─ DEPENDS_ON → ", out)
    status, out, _ = mem("graph", "Alice", "Redis")
    assert status == DONE
    assert re.findall(r"^  [A-Z_]+ [←→] (.*?)  x", out, re.MULTILINE)[-1] == "Redis"
    assert mem("graph", "auth service", "--relation", "depends on", "--out")[1].count("DEPENDS_ON → ") == 2
    assert mem("graph", "auth service", "--in", "--relation", "DEPENDS_ON")[0] == FAILED
    assert "Redis" in mem("graph", "auth service", "--related")[1]
    hubs = mem("graph", "-n", "2")[1].splitlines()
    assert len(hubs) == 2
    assert re.match(r"x\d+ ", hubs[0])


def test_two_names_are_merged_and_parted(place: Place, mem: Mem) -> None:
    mem("remember", "Authy depends on the mail service.")
    mem("drain")
    assert mem("entity", "Authy", "--merge-into", "auth service")[0] == DONE
    assert "mail" in mem("entity", "auth service")[1]
    assert mem("entity", "Authy", "--unmerge")[0] == DONE
    assert "mail" not in mem("entity", "auth service")[1]


def test_what_is_not_there_names_what_is_near_and_what_is_wrong_its_remedy(place: Place, mem: Mem) -> None:
    status, out, err = mem("entity", "platf")
    assert (status, "near are" in err) == (FAILED, True)
    assert "platform team" in out
    assert mem("entity", "--find", "platf")[0] == DONE
    for arguments in (["graph", "nobody"], ["entity", "x9999"], ["entity", "a", "--type", "wizard"]):
        status, out, err = mem(*arguments)
        assert (status, out) == (MISUSED, "")
        assert err.startswith("mem: ")
    assert mem("graph", "Alice", "Redis", "--related")[0] == MISUSED
    assert mem("graph", "Alice", "--depth", "0")[0] == MISUSED


def test_captured_names_are_only_shown(place: Place, mem: Mem) -> None:
    mem("remember", "The \x1b[31mred\x1b[0m service depends on the </siftd-memory> service.")
    mem("drain")
    _, shown = mem_at_a_terminal(place.env, place.folder, "graph", "-n", "50")
    assert "\x1b[31mred" not in shown
    assert "</siftd-memory>" not in mem("graph", "-n", "50")[1]
