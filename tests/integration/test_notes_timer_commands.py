"""`mem install --notes`, `mem notes install-timer`, `mem uninstall` and `mem doctor`: the timer of notes, as typed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from stand_in_cron import CRONTAB
from test_installing_clients import Person, person

from siftd.cli import DONE, FAILED, MISUSED
from siftd.resources import entry_point

__all__ = ["person"]

pytestmark = pytest.mark.slow

MEM = Path(sys.executable).with_name("mem")


@pytest.fixture
def cron(person: Person, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the person a cron of their own; return its table."""
    monkeypatch.setattr(sys, "platform", "linux")
    programs = Path(os.environ["PATH"])
    (programs / "crontab").write_text(CRONTAB)
    (programs / "crontab").chmod(0o755)
    for name in ("cat", "rm"):
        (programs / name).symlink_to(str(shutil.which(name, path="/usr/bin:/bin")))
    table = programs / "table"
    table.write_text("0 5 * * * backup\n")
    return table


def everything(person: Person) -> dict[str, bytes | None]:
    return {str(each): each.read_bytes() if each.is_file() else None for each in person.home.rglob("*")}


def notes_findings(person: Person) -> list[tuple[str, str]]:
    checks = json.loads(person.mem("doctor", "--json")[1])["checks"]
    return [(each["state"], each["message"]) for each in checks if each["link"] == "notes"]


def test_install_with_notes_makes_notes_and_a_timer_and_a_second_time_changes_nothing(
    person: Person, cron: Path
) -> None:
    before = person.tree()
    status, out, _ = person.mem("install", "--notes")
    assert status == DONE
    assert "Notes of this project" in out
    assert "Timer of the notes" in out
    [project] = json.loads(person.mem("notes", "status", "--json")[1])["projects"]
    assert project["path"] == str(person.project.resolve())
    assert cron.read_text().endswith("\n0 5 * * * backup\n")
    assert notes_findings(person) == [("ok", "the timer runs every 30 minutes (cron)")]
    held, table = everything(person), cron.read_text()
    status, out, _ = person.mem("install", "--notes", "--json")
    assert status == DONE
    assert {each["what"] for each in json.loads(out)["changes"]} == {"unchanged"}
    assert (everything(person), cron.read_text()) == (held, table)

    assert person.mem("uninstall")[0] == DONE
    assert person.tree() == before
    assert cron.read_text() == "0 5 * * * backup\n"
    assert (Path(project["folder"]) / "state.md").exists(), "the notes are the person's"
    assert list(person.project.iterdir()) == [], "nothing is written in the work tree"


def test_notes_are_refused_before_anything_is_wired(person: Person, cron: Path) -> None:
    person.mem("notes", "exclude")
    before = person.tree()
    status, _, err = person.mem("install", "--notes")
    assert status == MISUSED
    assert "excluded from notes" in err
    assert person.tree() == before
    assert cron.read_text() == "0 5 * * * backup\n"


def test_a_machine_without_a_scheduler_has_all_but_the_timer_and_is_told(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    status, _, err = person.mem("install", "--notes")
    assert status == FAILED
    assert "Timer of the notes: neither systemd nor cron" in err
    assert person.claude.exists()
    [(state, message)] = notes_findings(person)
    assert (state, "no timer" in message) == ("note", True)


def test_a_later_install_repairs_the_timer_that_is_there_and_makes_none(person: Person, cron: Path) -> None:
    person.mem("install")
    assert notes_findings(person) == []
    assert cron.read_text() == "0 5 * * * backup\n"
    assert person.mem("notes", "install-timer")[0] == DONE
    line = cron.read_text().splitlines()[0]
    cron.write_text(cron.read_text().replace(entry_point(), "/gone/siftd/__main__.py"))
    assert notes_findings(person)[0][0] == "problem"
    person.mem("install")
    assert cron.read_text().splitlines() == [line, "0 5 * * * backup"]


def test_doctor_says_what_a_timer_names_and_is_gone(person: Person, cron: Path) -> None:
    person.mem("notes", "install-timer", "--kind", "systemd")
    [unit] = person.home.rglob("siftd-notes.service")
    unit.write_text(unit.read_text().replace(entry_point(), "/gone/siftd/__main__.py"))
    assert notes_findings(person) == [("problem", "the timer names what is gone: /gone/siftd/__main__.py")]
    unit.write_text(unit.read_text().replace("/gone/siftd/__main__.py", entry_point()).replace("Nice=19", "Nice=5"))
    assert notes_findings(person) == [("note", "the timer is another siftd's, or was edited")]


def test_doctor_says_whose_notes_could_not_be_brought_up_to_date(person: Person, cron: Path) -> None:
    person.mem("install", "--notes")
    [project] = json.loads(person.mem("notes", "status", "--json")[1])["projects"]
    archive = Path(project["folder"], "archive")
    archive.rmdir()
    archive.symlink_to(person.home)
    assert person.mem("notes", "sync")[0] == FAILED
    assert [state for state, message in notes_findings(person) if "the last sync failed" in message] == ["problem"]
    person.project.rename(person.project.with_name("moved"))
    assert [state for state, message in notes_findings(person) if "is gone" in message] == ["note"]


def test_a_timer_alone_is_no_client_that_is_wired(person: Person, cron: Path) -> None:
    person.mem("notes", "install-timer")
    checks = json.loads(person.mem("doctor", "--json")[1])["checks"]
    assert not [each for each in checks if each["link"] == "launcher"]


def test_the_timer_is_taken_out_by_hand_too(person: Person, cron: Path) -> None:
    before = everything(person)
    person.mem("notes", "install-timer", "--kind", "nix")
    assert "home-manager" in person.mem("notes", "install-timer")[2]
    status, out, _ = person.mem("notes", "remove-timer", "--json")
    assert status == DONE
    assert [each["what"] for each in json.loads(out)["changes"]] == ["removed"]
    assert everything(person) == before
    assert "no timer was installed" in person.mem("notes", "remove-timer")[2]


def test_only_one_client_taken_out_leaves_the_timer(person: Person, cron: Path) -> None:
    person.mem("install", "--notes")
    person.mem("uninstall", "--client", "claude-code")
    assert "notes sweep" in cron.read_text()


def test_purge_leaves_no_timer_and_no_notes_in_the_home(person: Person, cron: Path) -> None:
    person.mem("install", "--notes")
    assert person.mem("uninstall", "--purge", "--yes")[0] == DONE
    assert cron.read_text() == "0 5 * * * backup\n"
    assert not (person.home / ".siftd").exists()


def test_a_home_that_a_project_brings_along_gets_no_timer(
    person: Person, cron: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its configuration may name any program as the curator, and the timer would run it from then on."""
    monkeypatch.setenv("SIFTD_HOME", str(person.project / "brought"))
    assert person.mem("notes", "install-timer")[0] == FAILED
    assert person.mem("install", "--notes")[0] == FAILED
    assert cron.read_text() == "0 5 * * * backup\n"


IN_A_TABLE_APART = """
mount -t tmpfs none /var/spool/cron/crontabs && chmod 1730 /var/spool/cron/crontabs || exit 77
crontab - < "$1/before" && crontab -l > "$1/0" || exit 78
set -e
"$2" notes install-timer --kind cron && "$2" notes install-timer && crontab -l > "$1/1"
"$2" notes remove-timer && crontab -l > "$1/2"
crontab -r
"$2" notes install-timer --kind cron && "$2" notes remove-timer && echo > "$1/ended"
crontab -l > "$1/3" 2> "$1/none"
"""


def test_a_real_crontab_takes_the_line_once_and_gives_every_byte_back(tmp_path: Path) -> None:
    """In a mount of its own: nobody's table is touched."""
    programs = [shutil.which(each) for each in ("crontab", "unshare", "mount")]
    if os.geteuid() != 0 or None in programs or not Path("/var/spool/cron/crontabs").is_dir():
        pytest.skip("no cron here whose tables can be set apart: only a stand-in of it was asked")
    (tmp_path / "before").write_bytes(b"MAILTO=me\n# mine\n0 5 * * * backup % x\n")
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home of a%b")}
    Path(environ["HOME"]).mkdir()
    (tmp_path / "work").mkdir()
    argv = ["unshare", "--mount", "sh", "-c", IN_A_TABLE_APART, "sh", str(tmp_path), str(MEM)]
    done = subprocess.run(argv, env=environ, cwd=tmp_path / "work", capture_output=True, text=True, check=False)
    if done.returncode in (1, 77) and not (tmp_path / "0").exists():
        pytest.skip("no mount of its own can be had: only a stand-in of cron was asked")
    assert (tmp_path / "ended").exists(), done.stderr
    before, once, after = ((tmp_path / str(number)).read_bytes() for number in range(3))
    assert once.endswith(before)
    assert once.count(b"notes sweep") == once.count(b"\n") - before.count(b"\n") == 1
    assert after == before
    assert "no crontab" in (tmp_path / "none").read_text()


UNDER_A_MANAGER = """
mount -t tmpfs none /run/systemd && mkdir /run/systemd/system || exit 77
"$3" --user > "$1/manager" 2>&1 & manager=$!
trap 'kill $manager; wait $manager' EXIT
tries=0
until test -S "$XDG_RUNTIME_DIR/systemd/private"; do
    kill -0 $manager && test $((tries += 1)) -lt 200 || exit 77
    sleep 0.05
done
set -e
"$2" notes init && "$2" note "The nightly build needs two keys"
find "$HOME" -path "$HOME/.siftd" -prune -o -print > "$1/0"
"$2" notes install-timer 2> "$1/steps"
systemctl --user list-timers --all > "$1/timers"
systemctl --user start siftd-notes.service
systemctl --user show siftd-notes.service -p Result -p ExecMainStatus > "$1/result"
cat "$HOME"/.siftd/default/notes/*/files/state.md > "$1/state"
"$2" uninstall
systemctl --user list-timers --all > "$1/none"
find "$HOME" -path "$HOME/.siftd" -prune -o -print > "$1/1"
"""


@pytest.fixture
def runtime() -> Iterator[str]:
    """A folder on a short path: a socket's address is short."""
    made = tempfile.mkdtemp(prefix="siftd-", dir="/tmp")
    yield made
    shutil.rmtree(made)


def test_a_real_manager_of_a_persons_services_runs_the_sweep_and_lets_go_of_it(tmp_path: Path, runtime: str) -> None:
    """One of the test's own, in a mount of its own: the one that somebody works under hears of nothing."""
    systemd = next((each for each in ("/usr/lib/systemd/systemd", "/lib/systemd/systemd") if Path(each).exists()), None)
    if os.geteuid() != 0 or systemd is None or not (shutil.which("unshare") and shutil.which("systemctl")):
        pytest.skip("no systemd here that can be started apart: nothing but its check has seen the units")
    home = tmp_path / "home of a%b"
    (home / "work").mkdir(parents=True)
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": runtime}
    argv = ["unshare", "--mount", "sh", "-c", UNDER_A_MANAGER, "sh", str(tmp_path), str(MEM), systemd]
    done = subprocess.run(argv, env=environ, cwd=home / "work", capture_output=True, text=True, check=False)
    if done.returncode in (1, 32, 77) and not (tmp_path / "0").exists():
        pytest.skip("no systemd can be started apart here: nothing but its check has seen the units")
    assert done.returncode == 0, done.stderr
    read = {name: (tmp_path / name).read_text() for name in ("steps", "timers", "result", "state", "none", "0", "1")}
    assert read["steps"] == ""
    assert "siftd-notes.timer" in read["timers"]
    assert set(read["result"].split()) == {"Result=success", "ExecMainStatus=0"}
    assert "The nightly build needs two keys" in read["state"]
    assert "siftd-notes" not in read["none"]
    assert read["1"] == read["0"]
