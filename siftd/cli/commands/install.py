"""`mem install`: wire siftd into agents' clients. A second time changes nothing; after a move of siftd it repairs."""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from siftd.backfill.sources import count_sessions
from siftd.cli.context import Context
from siftd.cli.output import clean, count, note, say, say_json
from siftd.clients.claude_code.client import Wirer
from siftd.clients.claude_code.settings import claude_folder
from siftd.clients.installable import INSTALLABLE, detect, names_asked_for
from siftd.clients.registry import CLIENTS, DEFAULT
from siftd.errors import RequestInvalid, SiftdError
from siftd.install import hot_context
from siftd.install.change import Change
from siftd.install.installation import record
from siftd.install.launcher import write_launcher
from siftd.notes.timers import installing
from siftd.resources import hooks_folder, server_entry
from siftd.workspace.home import check_apart, load_settings

GUARD = "guard"
"""What a list of changes calls the guard of Claude Code's own memory."""
NOTES = "notes"
"""What it calls the notes of this project."""
_OTHERS = {
    hot_context.OWNER: "Hot context",
    GUARD: "Guard of Claude Code's own memory",
    NOTES: "Notes of this project",
    installing.OWNER: "Timer of the notes",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--client",
        nargs="+",
        default=[],
        metavar="NAME",
        help="into these (`mem clients`), all, or detected: those on this machine (default; a terminal asks)",
    )
    parser.add_argument(
        "--project", action="store_true", help="only for this workspace, not for the user, where a client has that"
    )
    parser.add_argument("--no-tools", action="store_true", help="hooks and `/mem` only, no MCP server for the agent")
    parser.add_argument(
        "--hot-context",
        action="store_true",
        help="also let Claude Code load, in every project, what you said that holds in all of them",
    )
    parser.add_argument(
        "--guard-auto-memory",
        action="store_true",
        help="also refuse what an agent would write into Claude Code's own memory, and name `remember`",
    )
    parser.add_argument(
        "--notes",
        action="store_true",
        help="also make notes for this project (`mem notes init`), and a timer that keeps all notes up to date",
    )
    parser.add_argument(
        "--plugin",
        action="store_true",
        help="note for the plugin where siftd is, and say by which commands Claude Code installs it",
    )


def run(context: Context, options: Namespace) -> int:
    if options.plugin:
        record(context.home)
        write_launcher(context.home)
        commands = plugin_commands()
        made = {GUARD: _guard(context, options)} if options.guard_auto_memory else {}
        if options.json:
            say_json({"commands": commands, **({"changes": _as_json(made)} if made else {})})
        else:
            say_changes(made, is_json=False)
            say("\n".join(commands))
        return 0
    if options.hot_context and options.project:
        raise RequestInvalid("the hot context is for every project", hint="leave one of the two out")
    names = _chosen(context, options)
    if options.guard_auto_memory and DEFAULT not in names:
        raise RequestInvalid("the guard is for Claude Code alone", hint=f"add {DEFAULT} to --client, or leave it out")
    made_notes = _make_notes(context) if options.notes else []
    record(context.home)
    write_launcher(context.home)
    server = None if options.no_tools else server_entry("default")
    changes: dict[str, Sequence[Change]] = {}
    refused: dict[str, SiftdError] = {}
    for name in names:
        try:
            _, installer = INSTALLABLE[name]
            changes[name] = installer.install(context.where(), is_project=options.project, server=server)
        except SiftdError as error:
            if len(names) == 1:
                raise
            refused[name] = error
    if options.hot_context:
        rules = f"{claude_folder(context.environ, context.user_home)}/CLAUDE.md"
        changes[hot_context.OWNER] = hot_context.link(context.home, rules, context.user_home)
    if options.guard_auto_memory and DEFAULT not in refused:
        changes[GUARD] = _guard(context, options)
    if options.notes:
        changes[NOTES] = made_notes
    steps = []
    if options.notes or installing.find_kind(context.home):
        try:
            timer = installing.install_timer(context.home, context.environ, context.user_home)
            changes[installing.OWNER], steps = timer.changes, timer.steps
        except SiftdError as error:
            refused[installing.OWNER] = error
    say_changes(changes, options.json)
    for step in steps:
        note(f"mem: {clean(step)}")
    if not options.json:
        _say_what_comes(context, changes)
    return say_refused(refused)


def _make_notes(context: Context) -> list[Change]:
    """Make this workspace's notes, those that are missing."""
    from siftd.clock import SystemClock
    from siftd.notes import scaffold
    from siftd.notes.surroundings import Surroundings

    settings = load_settings(context.home).settings
    around = Surroundings(context.home, settings, context.environ, context.user_home, SystemClock())
    check_apart(context.home, context.workspace.root)
    made = scaffold.init(context.workspace.root, around)
    return [Change(path, "created") for path in made.written] or [Change(made.project.folder, "unchanged")]


def _guard(context: Context, options: Namespace) -> Sequence[Change]:
    return Wirer().install_guard(context.where(), is_project=options.project)


def _chosen(context: Context, options: Namespace) -> list[str]:
    """Return the clients to wire: those named; else those found, of several the ones that a person at a terminal
    picks."""
    where = context.where()
    if options.client:
        return names_asked_for(options.client, where)
    found = [name for name in detect(where) if INSTALLABLE[name][1].takes_project or not options.project] or [DEFAULT]
    if len(found) > 1 and sys.stdin.isatty() and not options.json:
        return _picked(found)
    return found


def _picked(found: Sequence[str]) -> list[str]:
    for number, name in enumerate(found, 1):
        note(f"{number:>3}  {INSTALLABLE[name][0].title} ({name})")
    print("Wire siftd into which? Numbers or names; nothing means all: ", end="", file=sys.stderr, flush=True)
    words = sys.stdin.readline().replace(",", " ").split()
    picked = [found[int(word) - 1] if word.isdecimal() and 0 < int(word) <= len(found) else word for word in words]
    if unknown := [word for word in picked if word not in found]:
        raise RequestInvalid(f"{clean(unknown[0])} is none of them", hint="run `mem install` again, or name --client")
    return list(dict.fromkeys(picked)) or list(found)


def plugin_commands() -> list[str]:
    """Return the commands that install this very siftd as a plugin, hooks, tools and skill, from checkout or wheel."""
    marketplace = hooks_folder().parent
    return [f"claude plugin marketplace add {shlex.quote(str(marketplace))}", "claude plugin install siftd@siftd"]


def say_changes(changes: dict[str, Sequence[Change]], is_json: bool) -> None:
    """Print what was done to which file of which client."""
    if is_json:
        say_json({"changes": _as_json(changes)})
        return
    for name, made in changes.items():
        if len(changes) > 1:
            say(title_of(name))
        for change in made:
            say(f"{change.what:<9}  {clean(change.path)}")


def _as_json(changes: dict[str, Sequence[Change]]) -> list[dict[str, str]]:
    return [{"client": name, "path": change.path, "what": change.what} for name in changes for change in changes[name]]


def title_of(name: str) -> str:
    """Return what people call a client, or whatever else is installed."""
    return INSTALLABLE[name][0].title if name in INSTALLABLE else _OTHERS[name]


def say_refused(refused: dict[str, SiftdError]) -> int:
    """Tell which clients could not be edited, and why; return the exit status."""
    for name, why in refused.items():
        hint = f"; {clean(why.hint)}" if why.hint else ""
        note(f"mem: {title_of(name)}: {clean(why.message)}{hint}")
    return 1 if refused else 0


def _say_what_comes(context: Context, changes: dict[str, Sequence[Change]]) -> None:
    changed = [
        name
        for name, made in changes.items()
        if name in INSTALLABLE and any(change.what != "unchanged" for change in made)
    ]
    if not changed:
        return
    if any(name in CLIENTS for name in changed):
        note("mem: running sessions are unaffected; capture starts with the next one")
    for name in changed:
        if step := INSTALLABLE[name][1].next_step:
            note(f"mem: {INSTALLABLE[name][0].title}: {step}")
    earlier = sum(
        count_sessions(client, client.files.folder(context.environ, context.user_home), context.workspace)
        for name, client in CLIENTS.items()
        if name in changes
    )
    if earlier:
        option = "" if [name for name in changes if name in CLIENTS] == [DEFAULT] else " --client all"
        note(f"mem: {count(earlier, 'earlier session')} of this workspace can be read in: `mem backfill{option}`")
