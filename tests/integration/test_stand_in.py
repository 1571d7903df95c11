"""Another project's program called `siftd` is never given a byte, wherever it is found. All processes are real."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from daemons import CHECKOUT, HOOK, Place, tool_call, wait_until

pytestmark = pytest.mark.slow

HOOKS = CHECKOUT / "hooks"
MEM = Path(sys.executable).with_name("mem")
SECRET = "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"
DIARY = """
import os, sys
with open({diary!r}, "ab") as diary:
    diary.write(repr(sys.argv).encode() + (b"" if sys.stdin.isatty() else sys.stdin.buffer.read()))
"""


class StandIn:
    """An environment with a package called `siftd` in it that writes down how it was run and what it was given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.diary = folder / "diary"
        venv.create(folder, with_pip=False, symlinks=True)
        self.python = folder / "bin" / "python"
        (packages,) = folder.glob("lib/python3*/site-packages")
        self.package = packages / "siftd"
        self.package.mkdir()
        for name in ("__init__.py", "__main__.py"):
            (self.package / name).write_text(DIARY.format(diary=str(self.diary)))
        (folder / "bin" / "siftd").write_text(f"#!{self.python}\nimport siftd\n")
        (folder / "bin" / "siftd").chmod(0o755)

    def was_run(self) -> str:
        return self.diary.read_text() if self.diary.exists() else ""


@pytest.fixture
def stand_in(place: Place) -> StandIn:
    return StandIn(place.root / "stranger")


@pytest.fixture
def plugin(place: Place) -> Path:
    """The plugin as the client keeps it: a copy of its folder, siftd itself being elsewhere."""
    return Path(shutil.copytree(HOOKS, place.root / "plugins" / "siftd"))


def run_plugin(place: Place, plugin: Path, path: str, *, what: str = "hook") -> subprocess.CompletedProcess[bytes]:
    env = place.env | {"PATH": path, "CLAUDE_PLUGIN_ROOT": str(plugin), "CLAUDE_PROJECT_DIR": str(place.folder)}
    wired = json.loads((HOOKS / "hooks.json").read_text())["hooks"]["PostToolUse"][0]["hooks"][0]["command"]
    command = ["/bin/sh", "-c", wired] if what == "hook" else ["/bin/sh", str(plugin / "plugin.sh"), "mcp"]
    envelope = json.dumps(tool_call(tool_input={"command": f"export {SECRET}"})).encode() if what == "hook" else b""
    return subprocess.run(command, env=env, cwd=place.folder, input=envelope, capture_output=True, check=False)


def ours_runs(place: Place, stand_in: StandIn) -> None:
    """Wait for the event to be stored by a siftd of ours."""
    place.wait_for_couriers()
    wait_until("a daemon of ours answers", place.pid)
    assert place.settle() == 1
    assert stand_in.was_run() == ""


@pytest.mark.parametrize("where", ["on the PATH", "~/.local/bin", "~/.siftd-env"])
def test_the_plugin_gives_a_stand_in_neither_a_frame_nor_a_start(
    place: Place, stand_in: StandIn, plugin: Path, where: str
) -> None:
    path = "/usr/bin:/bin"
    if where == "on the PATH":
        path = f"{stand_in.folder}/bin:{path}"
    elif where == "~/.local/bin":
        (place.root / ".local" / "bin").mkdir(parents=True)
        (place.root / ".local" / "bin" / "siftd").symlink_to(stand_in.folder / "bin" / "siftd")
    else:
        (place.root / ".siftd-env").symlink_to(stand_in.folder)
    done = run_plugin(place, plugin, path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    served = run_plugin(place, plugin, path, what="mcp")
    assert served.returncode == 1
    assert b"`uv tool install siftd-memory`" in served.stderr
    place.wait_for_couriers()
    assert stand_in.was_run() == ""


def test_the_plugin_finds_ours_behind_a_stand_in(place: Place, stand_in: StandIn, plugin: Path) -> None:
    done = run_plugin(place, plugin, f"{stand_in.folder}/bin:{MEM.parent}:/usr/bin:/bin")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    ours_runs(place, stand_in)
    assert run_plugin(place, plugin, f"{stand_in.folder}/bin:{MEM.parent}:/bin", what="mcp").returncode == 0


def test_the_plugin_finds_ours_by_what_install_has_recorded(place: Place, stand_in: StandIn, plugin: Path) -> None:
    environment = {name: value for name, value in place.env.items() if name != "SIFTD_HOME"}
    subprocess.run([MEM, "install", "--plugin"], env=environment, cwd=place.folder, capture_output=True, check=True)
    record = place.root / ".siftd" / "default" / "installation"
    assert record.stat().st_mode & 0o777 == 0o600
    done = run_plugin(place, plugin, f"{stand_in.folder}/bin:/usr/bin:/bin")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    ours_runs(place, stand_in)


def test_a_record_that_leads_to_a_stand_in_is_not_followed(place: Place, stand_in: StandIn, plugin: Path) -> None:
    """Its environment was made anew, with the other project's package in it."""
    mark = (CHECKOUT / "siftd" / "__init__.py").read_text().splitlines()[0]
    record = place.root / ".siftd" / "default" / "installation"
    record.parent.mkdir(parents=True)
    record.write_text(f"{mark}\n{stand_in.python}\n{stand_in.package}\n")
    assert run_plugin(place, plugin, "/usr/bin:/bin").returncode == 0
    assert run_plugin(place, plugin, "/usr/bin:/bin", what="mcp").returncode == 1
    place.wait_for_couriers()
    assert stand_in.was_run() == ""


@pytest.mark.parametrize("entry", ["./node_modules/.bin", "node_modules/.bin", "{folder}/node_modules/.bin", ""])
def test_what_a_project_brings_along_never_counts(place: Place, plugin: Path, entry: str) -> None:
    """A PATH entry in the project, relative or not: its `siftd` could name any program of the clone's."""
    folder = place.folder / "node_modules" / ".bin"
    folder.mkdir(parents=True)
    for each in (folder, place.folder):
        (each / "python3").write_text("#!/bin/sh\necho ran >> ../ran\n")
        (each / "python3").chmod(0o755)
        (each / "siftd").write_text(f"#!{folder}/python3\n")
        (each / "siftd").chmod(0o755)
    package = place.folder / "node_modules" / "lib" / "python3.11" / "site-packages" / "siftd"
    shutil.copytree(CHECKOUT / "siftd", package)  # even with our mark
    path = f"{entry.format(folder=place.folder)}:/usr/bin:/bin"
    try:
        assert run_plugin(place, plugin, path).returncode == 0
        assert run_plugin(place, plugin, path, what="mcp").returncode == 1
        place.wait_for_couriers()
        assert not (place.root / "ran").exists()
        assert not place.home.exists()
    finally:
        for each in place.folder.iterdir():
            shutil.rmtree(each) if each.is_dir() else each.unlink()


@pytest.fixture
def overlaid(stand_in: StandIn) -> Path:
    """Hooks of ours in an environment where the other project's package was installed over ours."""
    return Path(shutil.copytree(HOOKS, stand_in.package / "_data" / "hooks"))


def test_a_hook_whose_package_was_replaced_hands_nothing_over(
    place: Place, stand_in: StandIn, overlaid: Path, plugin: Path
) -> None:
    """Neither by what it travels in nor by what its interpreter would import; and it says so."""
    for hook in (overlaid, plugin):
        done = subprocess.run(
            [stand_in.python, "-I", "-S", hook / "hook.py"],
            env=place.env | {"CLAUDE_PROJECT_DIR": str(place.folder)}, cwd=place.folder,
            input=json.dumps(tool_call(tool_input={"command": f"export {SECRET}"})).encode(),
            capture_output=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        wait_until("the frame was counted", place.dropped)
    wait_until("both were counted", lambda: place.dropped() == 2)
    assert stand_in.was_run() == ""
    assert SECRET.encode() not in place.bytes_at_rest()
    assert b'"error":"PackageNotOurs"' in Path(place.paths.home.hook_failures).read_bytes()


def test_ours_is_run_in_an_environment_whose_siftd_is_another(place: Place, stand_in: StandIn) -> None:
    """Hook, courier, daemon and server, by an interpreter that would import the stand-in by its name."""
    beside = [each for each in sys.path if each.endswith("site-packages")]
    (stand_in.package.parent / "beside.pth").write_text("\n".join(beside) + "\n")
    done = subprocess.run(
        [stand_in.python, "-I", "-S", HOOK], env=place.env | {"CLAUDE_PROJECT_DIR": str(place.folder)},
        cwd=place.folder, input=json.dumps(tool_call()).encode(), capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    ours_runs(place, stand_in)
    assert str(stand_in.python) in place.processes()[place.pid() or 0]
    command = [stand_in.python, "-I", CHECKOUT / "siftd" / "__main__.py", "mcp"]
    assert subprocess.run(command, env=place.env, cwd=place.folder, input=b"", check=False).returncode == 0
    assert stand_in.was_run() == ""


def test_doctor_tells_of_another_siftd_on_the_path_without_running_it(place: Place, stand_in: StandIn) -> None:
    environment = place.env | {"PATH": f"{stand_in.folder}/bin:{os.environ['PATH']}"}
    subprocess.run([MEM, "install", "--plugin"], env=environment, cwd=place.folder, capture_output=True, check=True)
    record = Path(place.paths.home.installation)
    mark = record.read_text().splitlines()[0]
    record.write_text(f"{mark}\n{stand_in.python}\n{stand_in.package}\n")
    told = subprocess.run(
        [MEM, "doctor", "--json"], env=environment, cwd=place.folder, capture_output=True, text=True, check=False
    )
    messages = [each["message"] for each in json.loads(told.stdout)["checks"] if each["link"] == "path"]
    assert messages == [
        f"the plugin is to run another siftd: {stand_in.python} -I {stand_in.package}",
        f"{stand_in.folder}/bin/siftd is another program of that name; nothing of siftd's runs it",
    ]
    assert stand_in.was_run() == ""
