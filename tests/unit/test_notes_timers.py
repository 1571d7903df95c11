"""What starts the sweep of notes every half hour: the files of each scheduler, put in and taken out to the byte."""

from __future__ import annotations

import json
import os
import plistlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from stand_in_cron import CRONTAB

from siftd.errors import RequestInvalid, SettingsUnreadable, SiftdError
from siftd.notes.timers import cron, installing, launchd, nix, systemd
from siftd.notes.timers.installing import KINDS, Kind, find_kind, find_timer, install_timer, remove_timer
from siftd.notes.timers.order import Order, order_for
from siftd.workspace.paths import Home

HARD = "a b%c'd\"e$f;g#h&<i>${j}\\k"
"""A folder that every scheduler reads otherwise than it is written, unless it is quoted."""

REFUSING = "#!/bin/sh\necho 'You (somebody) are not allowed to use this program (crontab)' >&2\nexit 1\n"


class Place:
    """A person's home, with programs of its own on the PATH."""

    def __init__(self, root: Path) -> None:
        self.root = root / "home of a%b"
        self.root.mkdir()
        self.programs = root / "programs"
        self.programs.mkdir()
        self.home = Home(f"{self.root}/.siftd")
        self.environ = {"PATH": f"{self.programs}:/usr/bin:/bin", "HOME": str(self.root)}
        self.table = self.programs / "table"
        self.program("crontab", CRONTAB)

    def program(self, name: str, text: str) -> None:
        path = self.programs / name
        path.write_text(text)
        path.chmod(0o755)

    def install(self, kind: Kind | None = None) -> list[str]:
        return [change.what for change in install_timer(self.home, self.environ, str(self.root), kind).changes]

    def remove(self) -> list[str]:
        return [change.what for change in remove_timer(self.home, self.environ, str(self.root)).changes]

    def files(self) -> dict[str, bytes | str]:
        """Return every file and folder under the root, and cron's table."""
        found: dict[str, bytes | str] = {
            str(each): os.readlink(each) if each.is_symlink() else each.read_bytes() if each.is_file() else "folder"
            for each in self.root.rglob("*")
        }
        return found | ({"table": self.table.read_bytes()} if self.table.exists() else {})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def hard(tmp_path: Path) -> Order:
    """A timer whose paths hold whatever a scheduler takes for its own, and whose program prints what it was given."""
    folder = tmp_path / HARD
    folder.mkdir()
    program = folder / "python"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$SIFTD_HOME" "$@"\n')
    program.chmod(0o755)
    entry = folder / "__main__.py"
    entry.touch()
    argv = (str(program), "-I", str(entry), "notes", "sweep")
    return Order("siftd-notes", argv, {"SIFTD_HOME": str(folder), "SIFTD_NS": "default"}, "9f2c41aa")


# Put in and taken out


@pytest.fixture
def plain(hard: Order, tmp_path: Path) -> Order:
    """The same, whose program lies where most do."""
    return hard._replace(argv=(sys.executable, *hard.argv[1:]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_timer_is_put_in_once_and_taken_out_to_the_byte(place: Place, kind: Kind) -> None:
    place.table.write_bytes(b"MAILTO=me\n0 5 * * * backup # \xff nightly\n")
    before = place.files()
    made = place.install(kind)
    assert "created" in made
    assert find_kind(place.home) == kind
    held = place.files()
    assert set(place.install(kind)) == {"unchanged"}
    assert set(place.install()) == {"unchanged"}, "it stays of its kind"
    assert place.files() == held
    place.remove()
    assert place.files() == before
    assert place.remove() == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_timer_of_another_kind_takes_the_first_ones_place(place: Place, kind: Kind) -> None:
    before = place.files()
    for other in KINDS:
        place.install(other)
        place.install(kind)
        assert find_kind(place.home) == kind
        place.remove()
        assert place.files() == before


def test_units_stand_where_the_persons_configuration_is(place: Place) -> None:
    place.environ["XDG_CONFIG_HOME"] = f"{place.root}/conf"
    place.install("systemd")
    assert sorted(each.name for each in (place.root / "conf/systemd/user").iterdir()) == [
        "siftd-notes.service",
        "siftd-notes.timer",
    ]
    place.environ["XDG_CONFIG_HOME"] = f"{place.root}/elsewhere"
    place.install()
    assert not (place.root / "conf").exists(), "a timer does not stay where nobody looks for it"
    place.remove()
    assert list(place.root.iterdir()) == []


def test_a_unit_of_the_persons_own_by_that_name_is_left_alone(place: Place) -> None:
    own = place.root / ".config/systemd/user/siftd-notes.timer"
    own.parent.mkdir(parents=True)
    own.write_text("[Timer]\nOnCalendar=daily\n")
    before = place.files()
    with pytest.raises(SettingsUnreadable):
        place.install("systemd")
    assert place.files() == before


def test_what_a_person_changed_in_a_unit_is_theirs_when_they_took_its_mark_out(place: Place) -> None:
    place.install("systemd")
    unit = place.root / ".config/systemd/user/siftd-notes.timer"
    unit.write_text(unit.read_text().partition("\n")[2])
    assert "kept" in place.remove()
    assert unit.exists()


def test_another_home_has_a_timer_of_its_own(place: Place, tmp_path: Path) -> None:
    other = Home(str(tmp_path / "other"))
    for kind in KINDS:
        place.install(kind)
        held = place.files()
        install_timer(other, place.environ, str(place.root), kind)
        remove_timer(other, place.environ, str(place.root))
        assert place.files() == held
        place.remove()
    assert order_for(place.home, str(place.root)).name == "siftd-notes"
    assert order_for(other, str(place.root)).name.startswith("siftd-notes-")


def test_nothing_of_the_environment_it_is_installed_in_gets_into_a_timer(place: Place) -> None:
    """A cloned project's settings can set any variable for an agent, which may install the timer."""
    place.environ |= {"ANTHROPIC_API_KEY": "sk-planted", "PYTHONPATH": "/planted", "LD_PRELOAD": "/planted"}
    place.environ["PATH"] += ":/planted/bin"
    for kind in KINDS:
        place.install(kind)
        assert not any(b"planted" in each for each in place.files().values() if isinstance(each, bytes))
        place.remove()


def test_a_path_that_no_file_can_hold_is_refused_before_anything_is_written(place: Place) -> None:
    home = Home(f"{place.root}/a\nb")
    before = place.files()
    for kind in KINDS:
        with pytest.raises(SiftdError):
            install_timer(home, place.environ, str(place.root), kind)
    assert place.files() == before


# Which one


def test_the_scheduler_of_the_machine_is_chosen(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    place.install()
    assert find_kind(place.home) == "launchd"
    place.remove()
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("cat", "rm"):  # the one in /usr/bin might be a systemd's
        (place.programs / name).symlink_to(str(shutil.which(name)))
    place.environ["PATH"] = str(place.programs)
    place.install()
    assert find_kind(place.home) == "cron"
    place.remove()
    place.program("systemctl", "#!/bin/sh\nexit 1\n")
    place.install()
    assert find_kind(place.home) == "cron", "a systemd in which the person has nothing"
    place.remove()
    (place.root / ".config/systemd/user").mkdir(parents=True)
    place.install()
    assert find_kind(place.home) == "systemd"


def test_where_there_is_no_scheduler_it_is_said(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    place.environ["PATH"] = "/nowhere"
    with pytest.raises(RequestInvalid):
        place.install()
    assert list(place.root.iterdir()) == []


# systemd


@pytest.mark.parametrize("paths", ["hard", "plain"])
def test_the_units_pass_systemds_own_check(paths: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not here: nobody has looked at the units but ourselves")
    units = systemd.files(request.getfixturevalue(paths), {}, str(tmp_path))
    for unit in units:
        Path(unit.path).parent.mkdir(parents=True, exist_ok=True)
        Path(unit.path).write_text(unit.text)
    done = subprocess.run(
        [analyze, "verify", "--user", *(unit.path for unit in units)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_timer_waits_after_the_start_and_yields_to_whoever_works(hard: Order) -> None:
    entries = [entry for _, each in (*systemd.timer(hard), *systemd.service(hard)) for entry in each]
    assert {("OnBootSec", "5min"), ("OnUnitActiveSec", "30min"), ("RandomizedDelaySec", "120s")} <= set(entries)
    assert {("Nice", "19"), ("IOSchedulingClass", "idle")} <= set(entries)


MANAGED = """#!/bin/sh
# Does what `systemctl --user enable|disable` does to the folder of units, and writes down what it was asked for.
echo "$*" >> "${0%/*}/asked"
wants=$HOME/.config/systemd/user/timers.target.wants
case "$*" in
*enable*--now*siftd*) case "$2" in
    enable) mkdir -p "$wants" && ln -sf "../$4" "$wants/$4" ;;
    disable) rm -f "$wants/$4" && rmdir "$wants" ;;
    esac ;;
esac
"""


def test_a_persons_manager_is_told_and_the_link_it_makes_goes_again(place: Place, tmp_path: Path) -> None:
    listener = _manager(place, tmp_path)
    place.program("systemctl", MANAGED)
    before = place.files()
    told = install_timer(place.home, place.environ, str(place.root), "systemd").steps
    assert told == []
    standing = find_timer(place.home, place.environ, str(place.root))
    assert standing is not None
    assert (standing.is_current, standing.missing, standing.is_running) == (True, (), True)
    place.remove()
    listener.close()
    assert place.files() == before
    assert (place.programs / "asked").read_text().splitlines() == [
        "--user daemon-reload",
        "--user enable --now siftd-notes.timer",
        "--user disable --now siftd-notes.timer",
        "--user daemon-reload",
    ]


def test_a_manager_that_fails_costs_nothing_but_a_line_with_the_remedy(place: Place, tmp_path: Path) -> None:
    listener = _manager(place, tmp_path)
    place.program("systemctl", "#!/bin/sh\nexit 1\n")
    told = install_timer(place.home, place.environ, str(place.root), "systemd").steps
    listener.close()
    assert [line for line in told if "failed" in line and "systemctl --user enable --now" in line] == told != []


def test_without_a_manager_none_is_asked_and_the_link_of_an_earlier_one_goes(place: Place) -> None:
    place.program("systemctl", '#!/bin/sh\ntouch "${0%/*}/asked"\n')
    before = place.files()
    told = install_timer(place.home, place.environ, str(place.root), "systemd").steps
    assert "systemctl --user enable --now siftd-notes.timer" in told[0]
    wants = place.root / ".config/systemd/user/timers.target.wants"
    wants.mkdir()
    (wants / "siftd-notes.timer").symlink_to("../siftd-notes.timer")
    place.remove()
    assert place.files() == before
    assert not (place.programs / "asked").exists()


def _manager(place: Place, tmp_path: Path) -> object:
    """Let a manager of the person's seem to run: all that is looked for is its socket."""
    import socket

    runtime = tmp_path / "r"
    (runtime / "systemd").mkdir(parents=True)
    listener = socket.socket(socket.AF_UNIX)
    back = os.getcwd()
    os.chdir(runtime / "systemd")  # its address is short
    try:
        listener.bind("private")
    finally:
        os.chdir(back)
    place.environ["XDG_RUNTIME_DIR"] = str(runtime)
    return listener


# launchd


def test_the_property_list_says_what_is_run_to_two_readers(hard: Order, tmp_path: Path) -> None:
    text = launchd.file(hard, str(tmp_path)).text
    read = plistlib.loads(text.encode())
    assert read["ProgramArguments"] == list(hard.argv)
    assert read["EnvironmentVariables"] == hard.environment
    assert (read["StartInterval"], read["ProcessType"], read["LowPriorityIO"]) == (1_800, "Background", True)
    strings = [each.text for each in ElementTree.fromstring(text.encode()).iter("string")]
    assert set(hard.argv) <= set(strings)
    if plutil := shutil.which("plutil"):  # macOS
        subprocess.run([plutil, "-lint", "-"], input=text.encode(), check=True, capture_output=True)


LAUNCHD = """#!/bin/sh
# Has what is bootstrapped loaded, but at the first try: the real one lets go of an older one in its own time.
here=${0%/*}
echo "$1" >> "$here/asked"
case "$1" in
bootstrap) test -e "$here/tried" && touch "$here/loaded" || { touch "$here/tried"; exit 5; } ;;
bootout) test -e "$here/loaded" && rm "$here/loaded" ;;
print) test -e "$here/loaded" ;;
esac
"""


def test_launchd_has_the_timer_and_lets_go_of_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launchd, "REST_SECONDS", 0)
    place.program("launchctl", LAUNCHD)
    before = place.files()
    assert install_timer(place.home, place.environ, str(place.root), "launchd").steps == []
    assert install_timer(place.home, place.environ, str(place.root)).steps == []
    standing = find_timer(place.home, place.environ, str(place.root))
    assert standing is not None
    assert standing.is_running
    place.remove()
    assert place.files() == before
    asked = (place.programs / "asked").read_text().split()
    assert asked == ["print", "bootstrap", "bootstrap", "print", "print", "bootout"]
    assert not (place.programs / "loaded").exists()


def test_a_launchd_that_refuses_costs_nothing_but_a_line_that_says_when_it_begins(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launchd, "REST_SECONDS", 0)
    place.program("launchctl", "#!/bin/sh\nexit 1\n")
    [step] = install_timer(place.home, place.environ, str(place.root), "launchd").steps
    assert "next login" in step


# cron


@pytest.mark.parametrize(
    "table", [b"", b"0 5 * * * backup\n", b"# mine\n\nSHELL=/bin/fish\n@reboot x\n", b"\xff\r\n0 1 * * * y # siftd\n"]
)
def test_a_table_has_one_line_of_ours_above_the_persons(hard: Order, table: bytes) -> None:
    put = cron.with_line(table, hard)
    assert put.endswith(table)
    assert put.count(b"\n") == table.count(b"\n") + 1
    assert cron.with_line(put, hard) == put
    assert cron.without_line(put, hard) == table


def test_a_line_of_an_older_siftd_is_replaced_and_another_homes_is_not(hard: Order) -> None:
    older = cron.with_line(b"", hard._replace(argv=("/gone/python", *hard.argv[1:])))
    other = cron.with_line(b"", hard._replace(mark="00000000"))
    assert cron.with_line(older + other, hard) == cron.with_line(b"", hard) + other


def test_the_line_runs_the_program_with_what_it_was_given(hard: Order, tmp_path: Path) -> None:
    """As cron does: behind the five fields, `\\%` is `%` and an unescaped one would end the command."""
    *times, command = cron.line(hard).split(" ", 5)
    assert len(times) == 5
    assert "%" not in command.replace("\\%", "")
    shown = command.replace("\\%", "%").replace(">/dev/null", f">{tmp_path}/said")
    subprocess.run(["/bin/sh", "-c", shown], check=True, env={"PATH": "/usr/bin:/bin"})
    assert (tmp_path / "said").read_text().splitlines() == [hard.environment["SIFTD_HOME"], *hard.argv[1:]]


def test_the_lines_that_a_cron_writes_above_a_table_are_no_part_of_it(place: Place) -> None:
    header = "# DO NOT EDIT THIS FILE - edit the master and reinstall.\n# (/tmp/x installed on Mon)\n# (Cron version)\n"
    place.table.write_text(f"{header}# mine\n")
    place.install("cron")
    assert place.table.read_text().count("DO NOT EDIT") == 0
    place.remove()
    assert place.table.read_text() == "# mine\n"


def test_a_user_whom_cron_refuses_has_no_timer_and_is_told(place: Place) -> None:
    place.program("crontab", REFUSING)
    before = place.files()
    with pytest.raises(SiftdError, match="not allowed"):
        place.install("cron")
    assert place.files() == before


def test_a_timer_of_a_cron_that_is_gone_is_taken_out_all_the_same(place: Place) -> None:
    before = place.files()
    place.install("cron")
    place.table.unlink()
    place.environ["PATH"] = "/nowhere"
    assert place.remove() == ["removed"]
    assert place.files() == before


def test_a_table_takes_the_line_by_crons_own_check(hard: Order, tmp_path: Path) -> None:
    crontab = shutil.which("crontab")
    option = next((each for each in ("-T", "-n") if crontab and _takes(crontab, each)), None)
    if crontab is None or option is None:
        pytest.skip("no crontab that checks a table is here: nobody has looked at the line but ourselves")
    table = tmp_path / "table"
    table.write_bytes(cron.with_line(b"0 5 * * * backup\n", hard))
    assert subprocess.run([crontab, option, str(table)], check=False, capture_output=True).returncode == 0
    table.write_bytes(b"99 * * * * x\n")
    assert subprocess.run([crontab, option, str(table)], check=False, capture_output=True).returncode != 0


def _takes(crontab: str, option: str) -> bool:
    """Whether a crontab knows an option that checks a file and installs nothing."""
    known = subprocess.run([crontab, "-h"], capture_output=True, text=True, check=False)
    said = (known.stderr + known.stdout).replace("\t", " ")
    return f"{option} " in said and ("test" in said or "dry run" in said)


# nix


def test_the_module_says_the_same_to_nix(hard: Order, place: Place) -> None:
    program = shutil.which("nix-instantiate")
    if program is None:
        pytest.skip("nix-instantiate is not here: nobody has read the module but ourselves")
    module = place.root / "timer.nix"
    module.write_text(nix.file(hard, place.home).text)
    done = subprocess.run(
        [program, "--eval", "--strict", "--json", "-E", f"(import (/. + {json.dumps(str(module))})) {{ }}"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NIX_STATE_DIR": f"{place.root}/n", "NIX_REMOTE": f"{place.root}/s"},
    )
    read = json.loads(done.stdout)
    if sys.platform == "darwin":
        assert read["launchd"]["agents"]["siftd-notes"]["config"] == launchd.settings(hard)
        return
    units = read["systemd"]["user"]
    for unit, sections in (("services", systemd.service(hard)), ("timers", systemd.timer(hard))):
        for heading, entries in sections:
            for key, value in entries:
                said = units[unit]["siftd-notes"][heading][key]
                assert value in (said if isinstance(said, list) else [said])


# How it stands


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_timer_names_and_is_gone_is_found(place: Place, kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_timer(place.home, place.environ, str(place.root)) is None
    gone = place.root / HARD.replace("$f", "f").replace("${j}", "j") / "__main__.py"
    with monkeypatch.context() as patched:
        patched.setattr("siftd.notes.timers.order.entry_point", lambda: str(gone))
        place.install(kind)
        standing = find_timer(place.home, place.environ, str(place.root))
        assert standing is not None
        assert (standing.kind, standing.is_current, standing.missing) == (kind, True, (str(gone),))
    standing = find_timer(place.home, place.environ, str(place.root))
    assert standing is not None
    assert (standing.is_current, standing.missing) == (False, (str(gone),))
    place.install()
    standing = find_timer(place.home, place.environ, str(place.root))
    assert standing is not None
    assert (standing.is_current, standing.missing) == (True, ())


def test_a_line_that_a_person_took_out_of_the_table_is_missed(place: Place) -> None:
    place.install("cron")
    place.table.write_text("# mine\n")
    standing = find_timer(place.home, place.environ, str(place.root))
    assert standing is not None
    assert standing.is_running is False
    place.install()
    assert installing.find_timer(place.home, place.environ, str(place.root)).is_running  # type: ignore[union-attr]
