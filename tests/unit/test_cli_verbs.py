"""The command line of `mem`: every verb has help, and a misuse says what to do."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import siftd
from siftd.cli import DONE, FAILED, MISUSED, run, status_of
from siftd.cli.command_table import ALSO, GROUPS, HIDDEN, VERBS, choose
from siftd.clients import own
from siftd.errors import RequestInvalid, RequestRefused

HEAVY = ("msgspec", "anyio", "structlog", "rich", "numpy", "sqlite3", "subprocess", "pathlib", "typing", "inspect")
"""What `mem info` and `mem search` may not import while a daemon runs: agents wait for them."""


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SIFTD_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SIFTD_NS", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_has_help(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([verb, "--help"]) == DONE
    told = capsys.readouterr().out
    assert f"usage: mem {verb}" in told
    assert "--json" in told
    assert "--workspace" in told


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == DONE
    told = capsys.readouterr().out
    assert all(f"  {verb} " in told and summary in told for verb, summary in VERBS.items() if verb not in HIDDEN)
    assert [told.index(f"{group}:") for group in GROUPS] == sorted(told.index(f"{group}:") for group in GROUPS)
    assert not any(f"  {verb} " in told for verb in HIDDEN)


def test_every_command_is_a_module_of_its_name() -> None:
    folder = Path(siftd.__file__).parent / "cli" / "commands"
    assert all((folder / f"{verb}.py").is_file() for verb in VERBS)


def test_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == DONE
    assert capsys.readouterr().out == f"siftd {siftd.__version__}\n"


def test_nothing_asked_is_misuse_and_shows_the_help_beside_the_facts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == MISUSED
    told = capsys.readouterr()
    assert told.out == ""
    assert "commands" in told.err


def test_unknown_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serch", "x"]) == MISUSED
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "mem: there is no such command; did you mean `mem search`?\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["search"],
        ["search", "x", "-k", "0"],
        ["search", "x", "--kind", "nonsense"],
        ["search", "x", "--since", "yesteryear"],
        ["show"],
        ["retry"],
        ["retry", "e1", "--all"],
        ["drain", "many"],
        ["drain", "-5"],
        ["injections", "-n", "-1"],
        ["logs", "-n", "0"],
        ["sessions", "-n", "x"],
        ["info", "--nonsense"],
        ["config", "memory.backnd"],
    ],
    ids=" ".join,
)
def test_misuse_has_status_2_and_prints_no_facts(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == MISUSED
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err


def test_what_is_kept_out_of_memory_as_our_own_traffic_is_every_verb_and_nothing_else() -> None:
    assert {*VERBS, *ALSO, "help"} == own.VERBS


def test_help_is_a_command_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help"]) == DONE
    assert "mem COMMAND --help" in capsys.readouterr().out
    assert choose(["help", "search"]) == ("search", ["--help"])


@pytest.mark.parametrize(("typed", "meant"), [("version", "--version"), ("ls", "timeline"), ("serach", "search")])
def test_what_others_call_otherwise_is_named(typed: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([typed]) == MISUSED
    assert f"did you mean `mem {meant}`?" in capsys.readouterr().err


def test_status_is_another_name_of_info() -> None:
    assert choose(["status", "--json"]) == ("info", ["--json"])


def test_a_refusal_of_the_daemon_is_misuse_as_well() -> None:
    assert status_of(RequestRefused(RequestInvalid.code, "invalid id")) == MISUSED
    assert status_of(RequestRefused("disk_full", "no room")) == FAILED


def test_options_of_every_command_may_stand_before_it() -> None:
    assert choose(["--workspace", "info", "search", "x"]) == ("search", ["--workspace", "info", "x"])
    assert choose(["--workspace=a", "--json", "info"]) == ("info", ["--workspace=a", "--json"])


def test_what_an_agent_waits_for_imports_nothing_heavy(tmp_path: Path) -> None:
    """Held for the modules of the fast path; the integration test runs it with a daemon."""
    code = (
        "import sys; before = set(sys.modules)\n"
        "from siftd.cli import command_table, context\n"
        "parse, load = command_table.parse, command_table.load\n"
        "[parse(verb, load(verb), words) for verb, words in (('info', []), ('search', ['x']))]\n"
        f"print(*sorted((set(sys.modules) - before) & set({HEAVY!r})))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_its_options_are_completed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == DONE
    script = capsys.readouterr().out
    assert [verb for verb in VERBS if verb not in HIDDEN and not re.search(rf"\b{verb}\b", script)] == []
    assert "by-session" in script


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash here")
def test_bash_completes_a_command_and_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", "bash"]) == DONE
    script = capsys.readouterr().out

    def completed(*words: str) -> list[str]:
        asked = f'COMP_WORDS=({" ".join(words)!s}); COMP_CWORD={len(words) - 1}; _mem; echo "${{COMPREPLY[@]}}"'
        told = subprocess.run(["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True, check=True)
        return told.stdout.split()

    assert completed("mem", "sea") == ["search"]
    assert completed("mem", "search", "--by") == ["--by-session"]
    assert completed("mem", "--json", "forg") == ["forget"]
