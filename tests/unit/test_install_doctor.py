"""Each thing that can be wrong with the wiring is told, with its remedy."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from siftd.clients.claude_code.doctor import Problem, check_wiring
from siftd.clients.claude_code.settings import Target, Wiring
from siftd.clients.claude_code.wiring import install

Check = Callable[[], list[Problem]]


class Place:
    """A home and a project, wired to a siftd that exists."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "project"
        self.project.mkdir()
        self.wiring = self.make_siftd("src")
        self.user = Target.for_user({}, str(root))
        self.local = Target.for_project(str(self.project), {}, str(root))
        self.managed = root / "managed.json"

    def make_siftd(self, name: str) -> Wiring:
        hook = self.root / name / "hooks" / "hook.py"
        hook.parent.mkdir(parents=True)
        hook.write_text("")
        return Wiring(sys.executable, str(hook), "/env/bin/mem")

    def install(self, target: Target | None = None, wiring: Wiring | None = None) -> None:
        install(target or self.user, wiring or self.wiring, str(self.root / "install.json"))

    def set_key(self, path: str | Path, **values: Any) -> None:
        file = Path(path)
        file.parent.mkdir(exist_ok=True)
        document = json.loads(file.read_bytes()) if file.exists() else {}
        file.write_text(json.dumps(document | values))

    def check(self) -> list[Problem]:
        return check_wiring(self.wiring, str(self.project), {}, str(self.root), managed=[str(self.managed)])

    def told(self) -> str:
        [problem] = self.check()
        assert problem.remedy
        return problem.message


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_good_wiring_has_no_problem(place: Place) -> None:
    place.install()
    place.set_key(place.project / ".claude" / "settings.json", model="opus")

    assert place.check() == []


def test_nothing_wired_is_told(place: Place) -> None:
    assert "not wired" in place.told()


def test_the_same_wiring_in_two_scopes_is_no_problem_since_the_client_runs_it_once(place: Place) -> None:
    place.install()
    place.install(place.local)

    assert place.check() == []


def test_two_wirings_in_two_scopes_are_told(place: Place) -> None:
    place.install()
    place.install(place.local, place.make_siftd("other"))

    messages = [problem.message for problem in place.check()]
    assert any("more than once" in message and "settings.local.json" in message for message in messages)
    assert any("wired to another siftd" in message for message in messages)


def test_a_missing_event_is_named(place: Place) -> None:
    place.install()
    document = json.loads(Path(place.user.settings).read_bytes())
    del document["hooks"]["Stop"]
    place.set_key(place.user.settings, hooks=document["hooks"])

    assert place.told() == "some hooks are missing: Stop"


@pytest.mark.parametrize("where", ["user", "project", "managed"])
def test_hooks_that_are_switched_off_are_told_with_the_file(place: Place, where: str) -> None:
    place.install()
    paths: dict[str, str | Path] = {
        "user": place.user.settings,
        "project": f"{place.project}/.claude/settings.json",
        "managed": place.managed,
    }
    place.set_key(paths[where], disableAllHooks=True)

    assert place.told() == f"{paths[where]} switches all hooks off"


def test_a_policy_of_managed_hooks_only_counts_in_managed_settings_alone(place: Place) -> None:
    place.install()
    place.set_key(place.user.settings, allowManagedHooksOnly=True)
    assert place.check() == []

    place.set_key(place.managed, allowManagedHooksOnly=True)
    assert "managed hooks only" in place.told()


def test_the_plugin_alone_is_a_wiring_and_beside_the_settings_one_too_many(place: Place) -> None:
    place.set_key(place.user.settings, enabledPlugins={"siftd@siftd": True, "other@x": True})
    assert place.check() == []

    place.install()
    assert "runs twice" in place.told()


def test_a_moved_checkout_is_told_as_a_hook_that_is_gone(place: Place) -> None:
    place.install()
    Path(place.wiring.hook).unlink()

    assert "a hook that is gone" in place.told()


def test_an_interpreter_that_is_gone_or_another_is_told_and_not_run(place: Place) -> None:
    other = place.root / "other-python"
    place.install(wiring=Wiring(str(other), place.wiring.hook, "/env/bin/mem"))
    assert "an interpreter that is gone" in place.told()

    other.write_text(f"#!/bin/sh\ntouch {place.root}/ran\n")
    other.chmod(0o755)
    assert f"another interpreter: {other}" in place.told()
    assert not (place.root / "ran").exists()


def test_a_program_that_a_cloned_projects_settings_name_is_not_run(place: Place) -> None:
    """Whoever clones a project and asks what is wrong must not have run its author's program by that."""
    place.install()
    program = place.project / "tools" / "python"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {place.root}/ran\n")
    program.chmod(0o755)
    command = "exec tools/python -I -S tools/hooks/hook.py"
    hook = place.project / "tools" / "hooks" / "hook.py"
    hook.parent.mkdir()
    hook.write_text("")
    wired = [{"hooks": [{"type": "command", "command": command}]}]
    place.set_key(place.project / ".claude" / "settings.json", hooks={"PostToolUse": wired})
    with contextlib.chdir(place.project):
        messages = [problem.message for problem in place.check()]
    assert any("another interpreter: tools/python" in each for each in messages)
    assert not (place.root / "ran").exists()


@pytest.mark.parametrize("text", ["{", '{"hooks": 3}'])
def test_settings_that_do_not_parse_are_told_beside_the_rest(place: Place, text: str) -> None:
    place.install()
    broken = place.project / ".claude" / "settings.json"
    broken.parent.mkdir()
    broken.write_text(text)

    assert str(broken) in place.told()
