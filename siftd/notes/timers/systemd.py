"""A timer of systemd, in the person's own manager: two units in ~/.config/systemd/user.

Values are quoted as systemd reads them: a word in double quotes with `\\` before `"` and `\\`, `%` doubled wherever
specifiers are read, `$` doubled in the arguments of a command. In a program's own path no quote, backslash or `$` may
stand: a shell runs such a one. Linux only.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from siftd.install.edits import OWN_MARK, OwnFile
from siftd.notes.timers.order import AFTER_BOOT_MINUTES, EVERY_MINUTES, JITTER_SECONDS, NICE, Order
from siftd.notes.timers.programs import has_program, run_program

Section: TypeAlias = tuple[str, Sequence[tuple[str, str]]]
MODE = 0o644
_ABOUT = "siftd: keep the notes of projects current"
CONDITION = "ConditionPathExists"
_WANTS = "timers.target.wants"


def folder(environ: Mapping[str, str], user_home: str) -> str:
    """Return where the person's units are."""
    configured = environ.get("XDG_CONFIG_HOME", "")
    return f"{configured if configured.startswith('/') else f'{user_home}/.config'}/systemd/user"


def is_here(environ: Mapping[str, str], user_home: str) -> bool:
    """Whether this machine's systemd runs, or has run, units of the person's."""
    return has_program("systemctl", environ) and (_has_manager(environ) or Path(folder(environ, user_home)).is_dir())


def files(order: Order, environ: Mapping[str, str], user_home: str) -> list[OwnFile]:
    """Return the two units. They stand where `enable` finds them."""
    at = f"{folder(environ, user_home)}/{order.name}"
    return [
        OwnFile(f"{at}.service", _unit(service(order)), mode=MODE),
        OwnFile(f"{at}.timer", _unit(timer(order)), mode=MODE),
    ]


def service(order: Order) -> list[Section]:
    """Return what is run, in the sections of a unit."""
    program, entry = order.argv[0], order.argv[2]
    return [
        (
            "Unit",
            [
                ("Description", _ABOUT),
                # A siftd that was removed leaves a timer that does nothing, not one that fails every half hour.
                *((CONDITION, _unspecified(path)) for path in (program, entry)),
            ],
        ),
        (
            "Service",
            [
                ("Type", "oneshot"),
                *(("Environment", _quoted(f"{name}={value}")) for name, value in order.environment.items()),
                ("ExecStart", _command(order.argv)),
                ("Nice", str(NICE)),
                ("IOSchedulingClass", "idle"),
                ("UMask", "0077"),
            ],
        ),
    ]


def timer(order: Order) -> list[Section]:
    """Return when it is run."""
    return [
        ("Unit", [("Description", _ABOUT)]),
        (
            "Timer",
            [
                ("OnBootSec", f"{AFTER_BOOT_MINUTES}min"),
                ("OnUnitActiveSec", f"{EVERY_MINUTES}min"),
                ("RandomizedDelaySec", f"{JITTER_SECONDS}s"),
                ("AccuracySec", "1min"),
                ("Unit", f"{order.name}.service"),
            ],
        ),
        ("Install", [("WantedBy", "timers.target")]),
    ]


def named_paths(texts: Mapping[str, str]) -> list[str]:
    """Return the files that units, by their paths, need to be there."""
    lines = [line for text in texts.values() for line in text.splitlines()]
    return [line.partition("=")[2].replace("%%", "%") for line in lines if line.startswith(f"{CONDITION}=")]


def enable(order: Order, environ: Mapping[str, str]) -> str | None:
    """Have the person's manager run the timer from now on; return what a person still has to do, if that fails."""
    by_hand = f"systemctl --user daemon-reload && systemctl --user enable --now {order.name}.timer"
    if not _has_manager(environ):
        return f"no systemd of yours runs here: `{by_hand}` where one does"
    for arguments in (["daemon-reload"], ["enable", "--now", f"{order.name}.timer"]):
        if not _systemctl(arguments, environ):
            return (
                f"`systemctl --user {' '.join(arguments)}` failed: the timer is written but does not run; `{by_hand}`"
            )
    return None


def is_enabled(order: Order, environ: Mapping[str, str], user_home: str) -> bool:
    """Whether the timer begins with the person's next session."""
    return Path(_link(order.name, environ, user_home)).exists()


def disable(name: str, environ: Mapping[str, str], user_home: str) -> None:
    """Stop a timer and let nothing begin it; its units are still there."""
    if _has_manager(environ):
        _systemctl(["disable", "--now", f"{name}.timer"], environ)
    # Where no manager runs: what `enable` has made, and nothing that leads elsewhere.
    link = Path(_link(name, environ, user_home))
    if link.is_symlink() and os.path.realpath(link) == os.path.realpath(link.parents[1] / link.name):
        link.unlink()
        if not any(link.parent.iterdir()):
            link.parent.rmdir()


def forget(environ: Mapping[str, str]) -> None:
    """Let the manager know that units are gone."""
    if _has_manager(environ):
        _systemctl(["daemon-reload"], environ)


def _link(name: str, environ: Mapping[str, str], user_home: str) -> str:
    return f"{folder(environ, user_home)}/{_WANTS}/{name}.timer"


def _has_manager(environ: Mapping[str, str]) -> bool:
    """Whether a manager of this user runs and can be reached: without this variable `systemctl --user` cannot."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    return runtime.startswith("/") and Path(runtime, "systemd", "private").is_socket()


def _systemctl(arguments: Sequence[str], environ: Mapping[str, str]) -> bool:
    try:
        return run_program(["systemctl", "--user", *arguments], environ).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _unit(sections: Sequence[Section]) -> str:
    text = "\n\n".join(
        "\n".join([f"[{heading}]", *(f"{key}={value}" for key, value in entries)]) for heading, entries in sections
    )
    return f"# {OWN_MARK}\n\n{text}\n"


def _command(argv: Sequence[str]) -> str:
    program, *arguments = map(_quoted, argv)
    if any(character in argv[0] for character in "\"'\\$"):
        program, arguments = "/bin/sh", ["-c", _quoted('exec "$0" "$@"'), program, *arguments]
    return " ".join([program, *(word.replace("$", "$$") for word in arguments)])


def _quoted(word: str) -> str:
    """Return one word as systemd takes it apart."""
    escaped = _unspecified(word).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _unspecified(value: str) -> str:
    """Return a value in which systemd finds no specifier."""
    return value.replace("%", "%%")
