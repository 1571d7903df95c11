"""The kept brief is printed only when it is a file that siftd wrote: whoever wrote it speaks to the agent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from test_hook_cost import Stand, is_silent, stand

__all__ = ["stand"]

START = b'{"session_id":"s","hook_event_name":"SessionStart","source":"startup"}'
OUTPUT = b'{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"from the brief"}}'


@pytest.fixture
def brief(stand: Stand) -> Path:
    """A brief as siftd keeps one."""
    path = stand.home / "default" / "workspaces" / stand.key / "brief"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"s1 m2\n" + OUTPUT)
    path.chmod(0o600)
    return path


def test_a_brief_of_ours_is_printed(stand: Stand, brief: Path) -> None:
    assert stand.run(START).stdout == OUTPUT


def test_a_brief_without_an_id_is_printed_too(stand: Stand, brief: Path) -> None:
    """It says what is open in a project's notes, and nothing that is cited."""
    brief.write_bytes(b"\n" + OUTPUT)
    assert stand.run(START).stdout == OUTPUT


def test_a_client_that_wants_it_printed_otherwise_has_a_brief_of_its_own(stand: Stand, brief: Path) -> None:
    own = brief.with_name("brief.other")
    own.write_bytes(b's1 m2\n{"additionalContext":"from the brief"}')
    own.chmod(0o600)
    assert stand.run(START, arguments=["other"]).stdout == b'{"additionalContext":"from the brief"}'
    assert stand.run(START, arguments=["third"]).stdout == OUTPUT


def test_a_client_that_takes_plain_text_is_printed_plain_text(stand: Stand, brief: Path) -> None:
    brief.write_bytes(b's1 m2\n"a \\"brief\\"\\nin two lines, \\u00fcber"')
    assert stand.run(START).stdout.decode() == 'a "brief"\nin two lines, über'


def test_a_quiet_hook_prints_nothing(stand: Stand, brief: Path) -> None:
    """Its client would show the agent whatever is printed, as it stands."""
    assert is_silent(stand.run(START, arguments=["other", "quiet"]))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644])
def test_a_brief_that_others_may_see_or_write_is_none_of_ours(stand: Stand, brief: Path, mode: int) -> None:
    """As git and archives make files: siftd makes them for nobody else."""
    brief.chmod(mode)
    assert is_silent(stand.run(START))


def test_a_brief_of_another_user_is_not_printed(stand: Stand, brief: Path) -> None:
    """With SIFTD_HOME in a folder that somebody else has made first."""
    if os.getuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(brief, 65534, 65534)
    assert is_silent(stand.run(START))


@pytest.mark.parametrize("what", ["link", "pipe", "folder"])
def test_what_is_no_file_at_its_place_is_neither_followed_nor_waited_for(
    stand: Stand,
    brief: Path,
    what: str,
) -> None:
    brief.rename(stand.root / "elsewhere")
    if what == "link":
        brief.symlink_to(stand.root / "elsewhere")
    elif what == "pipe":
        os.mkfifo(brief, 0o600)
    else:
        brief.mkdir(0o700)
    assert is_silent(stand.run(START))
