"""`mem remember`, `export` and `import` against a real daemon: what a person says is kept, found and carried over."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from daemons import Place
from terminals import mem_at_a_terminal

from siftd.cli import DONE, FAILED, MISUSED, run

Mem = Callable[..., tuple[int, str, str]]


@pytest.fixture
def mem(place: Place, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Mem:
    for name, value in place.env.items():
        monkeypatch.setenv(name, value)
    for name in ("SIFTD_NS", "SIFTD_WORKSPACE", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(place.folder)

    def call(*arguments: str, stdin: str | None = None) -> tuple[int, str, str]:
        if stdin is not None:
            monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(stdin.encode())))
        status = run(arguments)
        told = capfdbinary.readouterr()
        return status, told.out.decode(), told.err.decode()

    return call


def test_a_statement_is_kept_found_and_shown(place: Place, mem: Mem) -> None:
    status, out, _ = mem("remember", "Production", "runs on Postgres 16", "--type", "decision", "--tag", "db", "--json")
    assert status == DONE
    kept = json.loads(out)
    assert mem("remember", "-", stdin="Production runs on Postgres 16\n")[1] == f"{kept['id']} says this already\n"
    status, out, err = mem("remember", "Production runs on Postgres 16 now", "--until", "2099-01-01")
    assert (status, kept["id"] in err) == (DONE, True)
    status, out, _ = mem("search", "postgres in production", "--kind", "memory", "--explain")
    assert f"{kept['id']} " in out
    assert "decision (agent)  Production runs on Postgres 16" in out
    status, out, _ = mem("show", kept["id"])
    assert status == DONE
    assert "db" in out
    assert out.endswith("Production runs on Postgres 16\n")
    assert json.loads(mem("info", "--json")[1])["counts"]["memories"] == 2


@pytest.mark.parametrize("arguments", [["--type", "rumour"], ["--importance", "9"]], ids=" ".join)
def test_what_cannot_be_kept_is_said_with_the_remedy(place: Place, mem: Mem, arguments: list[str]) -> None:
    status, out, err = mem("remember", "a statement", *arguments)
    assert (status, out) == (MISUSED, "")
    assert err.startswith("mem: ")


def test_everything_is_carried_over_by_a_file_or_a_pipe(place: Place, mem: Mem, tmp_path: Path) -> None:
    mem("remember", "Production runs on Postgres 16")
    place.capture(1)
    status, out, _ = mem("export", str(tmp_path / "all.jsonl"), "--json")
    assert status == DONE
    assert json.loads(out)["counts"]["events"] == json.loads(out)["counts"]["memories"] == 1
    status, printed, _ = mem("export")
    assert [json.loads(line)["kind"] for line in printed.splitlines()] == [
        "siftd-export", "session", "event", "memory", "end",
    ]  # fmt: skip
    assert not list(Path(place.paths.folder).glob("export-*"))
    status, out, _ = mem("import", str(tmp_path / "all.jsonl"), "--json")
    answer = json.loads(out)
    assert (status, sum(answer["added"].values()), answer["known"]["events"]) == (DONE, 0, 1)


def test_misuse_has_status_2_and_no_facts(place: Place, mem: Mem, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("no export")
    assert mem("export", "--json")[:2] == (MISUSED, "")
    assert mem("export", str(tmp_path / "mine"))[:2] == (MISUSED, "")
    assert mem("import", str(tmp_path / "mine"))[:2] == (MISUSED, "")
    assert mem("import")[:2] == (MISUSED, "")
    assert (tmp_path / "mine").read_text() == "no export"


def test_what_is_kept_for_every_project_is_found_in_another_one(
    place: Place, mem: Mem, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out, err = mem("remember", "Never push to main without a review", "--global", "--pin")
    assert (status, out) == (DONE, "g1 remembered\n")
    assert "waits for a person" in err
    other = place.root / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    assert mem("search", "push to main")[1] == "", "nobody has accepted it"
    assert mem_at_a_terminal(place.env, other, "pins", "--accept", keys="y\n")[0] == DONE
    assert mem("search", "push to main")[1].startswith("g1 ")
    assert "#g1 " in mem("brief")[1]
    assert mem("show", "g1")[1].startswith("g1 ")
    assert mem("memories")[1] == ""
    assert mem("memories", "--global")[1].startswith("g1 ")
    update = "update", "g1", "Never push to main without two reviews"
    assert "g1 changed" in mem_at_a_terminal(place.env, other, *update, keys="y\n")[1]
    monkeypatch.chdir(place.folder)
    assert "two reviews" in mem("search", "push to main")[1]
    assert mem("forget", "g1", "--yes")[0] == DONE
    assert mem("search", "push to main", "--kind", "memory")[1] == ""


def test_what_stands_in_every_session_is_asked_of_whoever_is_at_the_terminal(place: Place, mem: Mem) -> None:
    """A script has a terminal too, when a person runs it: but nobody there who answers."""
    pin = "remember", "Never push to main without a review", "--pin"
    status, shown = mem_at_a_terminal(place.env, place.folder, *pin, keys="\n")
    assert (status, "nothing was kept" in shown) == (FAILED, True)
    assert mem("pins")[1] == ""
    assert mem(*pin)[1] == "m1 remembered\n"
    (line,) = mem("pins")[1].splitlines()
    assert line.startswith("m1 ")
    assert " waits " in line
    assert "1 pin waiting" in mem("pins")[2]
    assert "Never push" not in mem("brief")[1]
    status, _, err = mem("pins", "--accept")
    assert (status, "a person has to say so" in err) == (MISUSED, True)
    agents = place.env | {"CLAUDECODE": "1"}
    assert mem_at_a_terminal(agents, place.folder, "pins", "--accept", keys="y\n")[0] == MISUSED
    assert mem_at_a_terminal(place.env, place.folder, "pins", "--accept", "m1", keys="n\n")[0] == FAILED
    assert " waits " in mem("pins")[1]
    status, shown = mem_at_a_terminal(place.env, place.folder, "pins", "--accept", "m1", keys="y\n")
    assert (status, "m1 accepted" in shown) == (DONE, True)
    assert json.loads(mem("pins", "--json")[1])["pins"][0]["waits"] is False
    assert "Never push" in mem("brief")[1]
    assert mem("pins", "--accept", "m1")[0] == MISUSED, "it waits for nothing"


def test_conversations_are_begun_listed_and_shown_as_a_tree(place: Place, mem: Mem) -> None:
    assert mem("conversations")[1] == ""
    root = json.loads(mem("conversations", "--start", "queues", "--json")[1])["id"]
    branch = json.loads(mem("conversations", "--start", "retries", "--branches", root, "--json")[1])["id"]
    leaf = json.loads(mem("conversations", "--start", "jitter", "--follows", branch, "--json")[1])["id"]
    place.ask("remember", text="Retries wait with jitter", sessionId=leaf)
    tree = mem("conversations", leaf)[1].splitlines()
    assert [line.split("  20")[0] for line in tree] == [root, f"  {branch}", f"    {leaf}"]
    assert "1 remembered  jitter" in tree[2]
    assert len(mem("conversations", "-n", "2")[1].splitlines()) == 2
    assert mem("conversations", "--stale", "30")[1] == ""
    status, _, err = mem("conversations", "c-nowhere")
    assert (status, "no such conversation" in err) == (MISUSED, True)
    assert "--start" in mem("conversations", "--follows", root)[2]


def test_the_page_of_facts_is_read_corrected_and_explained(place: Place, mem: Mem) -> None:
    for text, kind in (("Tests run with `make test`", "workflow"), ("Use pnpm, never npm", "preference")):
        assert mem("remember", text, "--type", kind)[0] == DONE
    assert mem("remember", "Write short sentences", "--type", "preference", "--global")[0] == DONE
    old = json.loads(mem("facts", "--json")[1])["facts"][-1]["id"]
    day = time.strftime("%Y-%m-%d")
    page = mem("facts")[1].splitlines()
    assert [line for line in page if not line.startswith(" ")] == ["Preferences", "", "Workflow"]
    assert any(line.endswith(f"Tests run with `make test`  (agent, {day})") for line in page)
    assert any("g" in line and "Write short sentences" in line and "waits for your word" in line for line in page)
    assert "Write short sentences" not in mem("facts", "--project")[1]
    assert mem("facts", "--category", "workflow")[1].splitlines()[0] == "Workflow"
    assert mem("facts", "--category", "rumour")[0] == MISUSED

    pnpm = next(each["id"] for each in json.loads(mem("facts", "--json")[1])["facts"] if "pnpm" in each["text"])
    status, out, _ = mem("correct", pnpm, "Use", "bun, never npm")
    assert status == DONE
    new = out.split()[0]
    assert out == f"{new} holds in the place of {pnpm}\n"
    assert "pnpm" not in mem("facts")[1]
    assert "pnpm" not in mem("search", "npm", "--kind", "memory")[1]
    told = mem("why", pnpm)[1]
    assert f"superseded by {new}" in told
    assert "corrected by" in told
    assert "given 0, used 0, confirmed 0" in told

    assert mem("verify", new, "--outdated")[1] == f"{new} holds no more\n"
    assert "bun" not in mem("facts")[1]
    assert mem("verify", new, "--confirmed")[0] == MISUSED  # nobody is at the terminal
    assert mem("forget", old, "--yes")[0] == DONE
    assert mem("why", "m99")[0] == MISUSED
