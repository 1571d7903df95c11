"""`mem knowledge` against a real daemon: built, shown, written into the work tree, given at a session's start."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator

import pytest
from daemons import Place, session_start

from siftd.cli import DONE, MISUSED, run
from siftd.knowledge.format import decode, is_as_written

Mem = Callable[..., tuple[int, str, str]]


@pytest.fixture
def mem(place: Place, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Iterator[Mem]:
    for name, value in place.env.items():
        monkeypatch.setenv(name, value)
    for name in ("SIFTD_NS", "SIFTD_WORKSPACE", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(place.folder)
    (place.folder / "okapi").mkdir()
    (place.folder / "okapi/__init__.py").write_text('"""Feeds okapis."""\n')
    (place.folder / "okapi/cli.py").write_text("def main() -> None: ...\n")
    (place.folder / "pyproject.toml").write_text('[project]\nname = "okapi"\nscripts = { okapi = "okapi.cli:main" }\n')
    (place.folder / "Makefile").write_text("test:\n\tpytest\n")

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(arguments)
        printed = capfdbinary.readouterr()
        return status, printed.out.decode(), printed.err.decode()

    yield call
    for each in place.folder.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()


def test_a_codebase_is_built_once_and_shown_in_three_forms(place: Place, mem: Mem) -> None:
    status, _, err = mem("knowledge")
    assert status == MISUSED
    assert "`mem knowledge build` makes one" in err
    status, out, _ = mem("knowledge", "build")
    assert status == DONE
    assert out.startswith(place.paths.knowledge)
    assert "memories: 5 added" in out
    assert ", as it was\nmemories: none changed" in mem("knowledge", "build")[1]
    assert "test `make test` (declared in Makefile:1)" in mem("knowledge", "show")[1]
    page = mem("knowledge", "show", "--markdown")[1]
    assert page.startswith("# okapi\n")
    assert "- Test: `make test` (declared, not seen to run here: `Makefile:1`)" in page
    (place.folder / "okapi/cli.py").write_text("def main() -> int: ...\n")
    assert "**(changed since)**" in mem("knowledge", "show", "--markdown")[1]
    assert json.loads(mem("knowledge", "show", "--json")[1])["stale"]["modules"] == ["okapi"]


def test_nothing_is_written_into_the_work_tree_unasked_and_one_file_asked(place: Place, mem: Mem) -> None:
    before = sorted(str(each) for each in place.folder.rglob("*"))
    assert mem("knowledge", "build")[0] == DONE
    assert sorted(str(each) for each in place.folder.rglob("*")) == before
    for arguments, name in ((("--in-tree",), ".siftd"), (("--in-tree", "forge"), ".forge")):
        assert mem("knowledge", "build", *arguments)[0] == DONE
        data = (place.folder / name / "knowledge.json").read_bytes()
        assert is_as_written(data)
        assert decode(data).overview.name == "okapi"
    assert mem("knowledge", "show", "--in-tree")[0] == MISUSED


def test_a_link_in_the_work_tree_leads_nowhere(place: Place, mem: Mem) -> None:
    elsewhere = place.root / "elsewhere"
    elsewhere.mkdir()
    (place.folder / ".siftd").symlink_to(elsewhere)
    status, _, err = mem("knowledge", "build", "--in-tree")
    assert status == MISUSED
    assert "is a link" in err
    assert not list(elsewhere.iterdir())


def test_the_first_session_is_given_five_lines_of_it_and_the_ledger_says_so(place: Place, mem: Mem) -> None:
    assert mem("knowledge", "build")[0] == DONE
    told = json.loads(place.hook(session_start() | {"cwd": str(place.folder)}).out)
    text = told["hookSpecificOutput"]["additionalContext"]
    assert "This is okapi" in text
    assert sum(line.startswith("- ") for line in text.splitlines()) <= 5
    status, out, _ = mem("injections", "--last")
    assert status == DONE
    assert "This is okapi" in out
    again = place.hook(session_start() | {"cwd": str(place.folder)})
    assert b"This is okapi" not in again.out


def test_what_was_not_read_is_told(place: Place, mem: Mem) -> None:
    (place.folder / "package.json").write_text("{")
    status, _, err = mem("knowledge", "build")
    assert status == DONE
    assert "not read: package.json: it is no JSON" in err
