"""Files that siftd does not own: pipes, devices, links and endless ones are refused at once, wherever one is read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from siftd.backfill.sources import find_sources
from siftd.cli.context import Context
from siftd.clients.claude_code.agent_side import check_agent
from siftd.clients.claude_code.doctor import check_wiring
from siftd.clients.claude_code.settings import Target, Wiring
from siftd.clients.claude_code.wiring import install
from siftd.clients.registry import CLIENTS
from siftd.errors import RequestInvalid, SiftdError
from siftd.exchange.run import open_file
from siftd.foreign_file import open_regular, read
from siftd.workspace.home import read_api_key
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home
from siftd.workspace.project_config import NAME, ProjectFile

PRIVATE = '{"token": "of-somebody-elses-file", "mcpServers": {"siftd": {"command": "siftd", "args": ["mcp"]}}}'


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_folder(path: Path) -> None:
    path.mkdir()


def a_link_to_endless_zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_link_to_another_file(path: Path) -> None:
    (path.parents[1] / "private").write_text(PRIVATE)
    path.symlink_to(path.parents[1] / "private")


REFUSED = "not a regular file|Is a directory|Too many levels of symbolic links"
TRAPS = [a_pipe, a_folder, a_link_to_endless_zeros, a_link_to_another_file]
Trap = Callable[[Path], None]


@pytest.mark.parametrize("lay", TRAPS)
def test_what_is_no_file_of_its_own_is_refused_at_once(lay: Trap, tmp_path: Path) -> None:
    (tmp_path / "clone").mkdir()
    lay(tmp_path / "clone" / "it")
    with pytest.raises(OSError, match=REFUSED):
        read(str(tmp_path / "clone" / "it"), 1000)


@pytest.mark.parametrize("lay", [a_pipe, a_folder, a_link_to_endless_zeros])
def test_where_a_link_is_followed_it_has_to_lead_to_a_file(lay: Trap, tmp_path: Path) -> None:
    lay(tmp_path / "it")
    (tmp_path / "link").symlink_to("it")
    with pytest.raises(OSError, match=REFUSED):
        open_regular(str(tmp_path / "link"), follow=True)


def test_no_more_is_read_than_is_allowed(tmp_path: Path) -> None:
    file = tmp_path / "sparse"
    with file.open("wb") as made:
        made.truncate(1 << 40)
    with pytest.raises(OSError, match="longer than 1000 bytes"):
        read(str(file), 1000)
    file.write_bytes(b"x" * 1000)
    assert len(read(str(file), 1000)) == 1000


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    for each in ("clone/.claude", "clone/.siftd", "user"):
        (tmp_path / each).mkdir(parents=True)
    return tmp_path / "clone"


@pytest.mark.parametrize("lay", TRAPS)
def test_doctor_reads_no_trap_among_a_clones_settings(lay: Trap, clone: Path) -> None:
    """Each would have ended it by a lack of memory, or kept it waiting for ever."""
    for name in (".claude/settings.json", ".claude/settings.local.json", ".mcp.json"):
        if lay is a_link_to_another_file:
            (clone.parent / "private").write_text(PRIVATE)
            (clone / name).symlink_to(clone.parent / "private")
        else:
            lay(clone / name)
    user = clone.parent / "user"
    context = Context(Home(str(user / ".siftd")), find_workspace(str(clone)), {}, str(user))
    wiring = Wiring("/env/bin/python", "/env/hooks/hook.py", "/env/bin/mem")
    told = [each.message for each in check_wiring(wiring, str(clone), {}, str(user), managed=[])]
    assert len([each for each in told if "settings" in each]) == 2
    [tools] = [each for each in check_agent(context.where()) if each.link == "tools"]
    assert tools.state == "note", "what a link leads to registers nothing"
    assert "of-somebody-elses-file" not in json.dumps(told)


@pytest.mark.parametrize("lay", TRAPS)
def test_a_projects_own_file_that_is_a_trap_decides_nothing(lay: Trap, clone: Path) -> None:
    lay(clone / NAME)
    values, problem = ProjectFile(str(clone)).read()
    assert values == {}
    assert problem is not None


@pytest.mark.parametrize("lay", TRAPS)
def test_no_trap_among_transcripts_is_read(lay: Trap, tmp_path: Path) -> None:
    folder = tmp_path / "claude" / "projects" / "-src"
    folder.mkdir(parents=True)
    lay(folder / "a.jsonl")
    sources = find_sources(
        CLIENTS["claude-code"],
        [],
        folder=str(tmp_path / "claude" / "projects"),
        workspace=find_workspace(str(tmp_path)),
        any_workspace=True,
        is_excluded=lambda _: False,
    )
    assert sources.transcripts == []


@pytest.mark.parametrize("lay", [a_pipe, a_link_to_endless_zeros])
def test_an_import_and_a_key_that_a_person_names_are_files(lay: Trap, tmp_path: Path) -> None:
    lay(tmp_path / "it")
    with pytest.raises(RequestInvalid):
        open_file(str(tmp_path / "it"))
    with pytest.raises(OSError, match=REFUSED):
        read_api_key(str(tmp_path / "it"))


@pytest.mark.parametrize("linked", [".claude", ".claude/settings.local.json"])
def test_a_project_is_not_wired_through_a_link_that_leads_out_of_it(linked: str, clone: Path) -> None:
    """Its author would have chosen which file of the person's is changed."""
    target = clone.parent / "elsewhere"
    target.mkdir()
    (target / "settings.local.json").write_text("{}")
    if linked == ".claude":
        (clone / ".claude").rmdir()
        (clone / ".claude").symlink_to(target)
    else:
        (clone / linked).symlink_to(target / "settings.local.json")
    user = str(clone.parent / "user")
    with pytest.raises(SiftdError, match="leads out of the project"):
        install(Target.for_project(str(clone), {}, user), Wiring("/p", "/h", "/m"), f"{user}/install.json")
    assert (target / "settings.local.json").read_text() == "{}"


def test_a_persons_own_settings_may_be_kept_elsewhere(clone: Path) -> None:
    """Dotfiles often are."""
    user = clone.parent / "user"
    (user / ".claude").mkdir()
    (user / "dotfiles.json").write_text('{"disableAllHooks": true}')
    (user / ".claude" / "settings.json").symlink_to(user / "dotfiles.json")
    told = [each.message for each in check_wiring(Wiring("/p", "/h", "/m"), str(clone), {}, str(user), managed=[])]
    assert any("switches all hooks off" in each for each in told)
