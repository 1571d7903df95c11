"""The launcher: entries in clients' settings that never change, whatever moves behind them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_hook_cost import ENVELOPE, Stand, is_silent, stand

from siftd.errors import SiftdError
from siftd.install.launcher import (
    format_entry,
    is_entry,
    is_launcher_current,
    quote_path,
    remove_launcher,
    write_launcher,
)
from siftd.workspace.paths import Home

__all__ = ["stand"]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(str(tmp_path / "a 'home'"))


def run(command: str, stand: Stand) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["/bin/sh", "-c", command], env=stand.env, cwd=stand.folder, input=ENVELOPE, capture_output=True, check=False
    )


def test_an_entry_runs_this_siftds_hook_for_its_client(stand: Stand, home: Home) -> None:
    """What the hook cannot hand over is spooled, by the client's name."""
    write_launcher(home)
    assert is_launcher_current(home)
    hook = stand.root / "hook.py"
    hook.write_text("import sys; print(sys.argv[1:], sys.flags.no_site)")
    text = Path(home.launcher).read_text()
    real = next(word for word in text.split() if word.endswith("/hook.py"))
    Path(home.launcher).write_text(text.replace(real, str(hook)))
    assert run(format_entry(home.launcher, "some-agent"), stand).stdout == b"['some-agent'] 1\n"
    assert run(format_entry(home.launcher, "some-agent", "quiet"), stand).stdout == b"['some-agent', 'quiet'] 1\n"


def test_an_entry_with_nothing_behind_it_is_silent(stand: Stand, home: Home) -> None:
    entry = format_entry(home.launcher, "codex")
    assert is_silent(run(entry, stand)), "no launcher"
    write_launcher(home)
    Path(home.launcher).write_text(Path(home.launcher).read_text().replace(sys.executable, "/nowhere/python"))
    assert is_silent(run(entry, stand)), "no interpreter"
    assert not is_launcher_current(home)


def test_a_moved_interpreter_changes_no_entry(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    write_launcher(home)
    before = format_entry(home.launcher, "codex")
    monkeypatch.setattr(sys, "executable", "/elsewhere/bin/python")
    assert not is_launcher_current(home)
    write_launcher(home)
    assert is_launcher_current(home)
    assert format_entry(home.launcher, "codex") == before
    remove_launcher(home)
    remove_launcher(home)
    assert not os.path.exists(home.launcher)


@pytest.mark.parametrize("how", ["", "quiet"])
def test_an_entry_is_known_again_whichever_home_it_names(home: Home, how: str) -> None:
    assert is_entry(format_entry(home.launcher, "gemini-cli", how))  # type: ignore[arg-type]
    assert is_entry(format_entry("/home/a\nb/.siftd/default/hook.sh", "codex", how))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "command",
    [None, "", "exit 0", "siftd_client=codex; rm -rf /; exit 0", "test -r /a/hook.sh && . /a/hook.sh; exit 0",
     "siftd_client=codex; test -r /a/hook.sh && . /b/hook.sh; exit 0"],
)  # fmt: skip
def test_what_somebody_else_wrote_is_no_entry_of_ours(command: object) -> None:
    assert not is_entry(command)


def test_a_path_that_no_settings_file_can_hold_is_refused() -> None:
    with pytest.raises(SiftdError, match="UTF-8"):
        quote_path(os.fsdecode(b"/opt/\xff/python"))
