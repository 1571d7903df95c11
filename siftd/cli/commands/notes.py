"""`mem notes`: files about a project that people read: state, decisions, mistakes, to do."""

from __future__ import annotations

import os
import re
from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import clean, format_bytes, format_time, note, print_table, say, say_json
from siftd.errors import RequestInvalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.notes.layout import Project
    from siftd.notes.surroundings import Surroundings
    from siftd.notes.timers.installing import Installed

VERBS = ("init", "sync", "sweep", "brief", "status", "exclude", "install-timer", "remove-timer")
SCHEDULERS = ("systemd", "launchd", "cron", "nix")
_TRIGGER = re.compile(r"[a-z][a-z-]{0,31}")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", default="status", choices=VERBS, help="what to do (default: status)")
    parser.add_argument("path", nargs="?", metavar="PATH", help="init, brief, exclude: the folder (default: this one)")
    parser.add_argument("--name", help="init: what to call the project (default: its folder's name)")
    parser.add_argument("--in-tree", action="store_true", help="init: keep the files in ./.memory, to be committed")
    parser.add_argument("--project", metavar="P", help="sync: its folder, name or id (default: the current folder's)")
    parser.add_argument("--trigger", default="manual", help="sync: why it is done (default: manual)")
    parser.add_argument("--transcript", metavar="FILE", help="sync: also what this session file tells")
    parser.add_argument("--kind", choices=SCHEDULERS, help="install-timer: by which (default: the one of this machine)")
    parser.add_argument("--dry-run", action="store_true", help="sync: say what would be written, write nothing")


def run(context: Context, options: Namespace) -> int:
    from siftd.clock import SystemClock
    from siftd.notes.surroundings import Surroundings
    from siftd.workspace.home import load_settings

    settings = load_settings(context.home).settings
    around = Surroundings(context.home, settings, context.environ, context.user_home, SystemClock())
    if options.path is not None and options.what not in ("init", "brief", "exclude"):
        raise RequestInvalid(f"`mem notes {options.what}` takes no PATH", hint="--project names one")
    does = {
        "init": _init,
        "sync": _sync,
        "sweep": _sweep,
        "brief": _brief,
        "status": _status,
        "exclude": _exclude,
        "install-timer": _install_timer,
        "remove-timer": _remove_timer,
    }
    return does[options.what](around, options)


def _folder(options: Namespace) -> str:
    return os.path.realpath(options.path or os.getcwd())  # noqa: PTH109


def _project(around: Surroundings, options: Namespace) -> Project:
    from siftd.notes import registry

    named = options.project
    if named is None or named.startswith(("/", ".", "~")):
        named = os.path.realpath(os.path.expanduser(named or os.getcwd()))  # noqa: PTH109, PTH111
    return registry.required(around.home, named)


def _init(around: Surroundings, options: Namespace) -> int:
    from siftd.notes import scaffold

    made = scaffold.init(_folder(options), around, name=options.name, in_tree=options.in_tree)
    if options.json:
        say_json({"project": made.project._asdict(), "written": made.written, "isNew": made.is_new})
        return 0
    say(f"{clean(made.project.name)}: notes in {clean(made.project.folder)}")
    for path in made.written:
        say(f"  written  {clean(os.path.relpath(path, made.project.folder))}")
    if made.is_new:
        note("mem: `mem notes sync` brings them up to date")
    elif not made.written:
        note("mem: they were there already; nothing is changed")
    return 0


def _sync(around: Surroundings, options: Namespace) -> int:
    from siftd.notes import sync

    if not _TRIGGER.fullmatch(options.trigger):
        raise RequestInvalid("a trigger is a word of small letters", hint="manual, session-end, pre-compact, sweep")
    project = _project(around, options)
    transcript = os.path.abspath(options.transcript) if options.transcript else None  # noqa: PTH100
    outcome = sync.sync(project, around, trigger=options.trigger, transcript=transcript, dry_run=options.dry_run)
    if options.json:
        say_json({"project": project.name, **outcome._asdict()})
        return 0 if outcome.status == "done" else 1
    _say_outcome(project, outcome, is_rehearsal=options.dry_run)
    return 0 if outcome.status == "done" or (options.dry_run and outcome.status == "nothing") else 1


def _say_outcome(project: Project, outcome: object, *, is_rehearsal: bool = False) -> None:
    from siftd.notes.sync import Outcome

    assert isinstance(outcome, Outcome)
    say(f"{clean(project.name)}: {clean(outcome.message)}")
    for path in outcome.written:
        say(f"  {'would be written' if is_rehearsal else 'written'}  {clean(os.path.relpath(path, project.folder))}")
    for remark in outcome.remarks:
        note(f"mem: {clean(remark)}")


def _sweep(around: Surroundings, options: Namespace) -> int:
    from siftd.notes import registry
    from siftd.notes.sweep import sweep

    swept = []
    for project, outcome in sweep(around):
        swept.append({"project": project.name, **outcome._asdict()})
        if not options.json and outcome.status != "nothing":
            _say_outcome(project, outcome)
    offered = list(registry.load(around.home).offered)
    if options.json:
        say_json({"swept": swept, "offered": offered})
    elif not swept:
        note("mem: no project has notes; `mem notes init` makes them")
    for path in offered if not options.json else ():
        note(f"mem: {clean(path)} has none; `mem notes init {clean(path)}` makes them")
    return 1 if any(each["status"] == "failed" for each in swept) else 0


def _status(around: Surroundings, options: Namespace) -> int:
    from siftd.notes import inbox, last, registry, sources
    from siftd.notes.layout import Bookkeeping

    known = registry.load(around.home)
    listed: list[dict[str, object]] = []
    rows = []
    for project in known.projects:
        latest = last.load(Bookkeeping(around.home, project.id))
        is_there = os.path.isdir(project.path)  # noqa: PTH112
        waiting = sources.backlog(project, around).size if is_there else None
        unread = inbox.count_unread(project)
        distil = {"ts": latest.ts, "trigger": latest.trigger, "model": latest.model, "summary": latest.summary}
        place = {"name": project.name, "path": project.path, "folder": project.folder}
        listed.append({**place, "backlogBytes": waiting, "unread": unread, "last": distil, "problem": latest.problem})
        when = f"{format_time(latest.ts)}, {latest.trigger}, {latest.model}" if latest.ts else "never"
        size = "gone" if waiting is None else format_bytes(waiting)
        rows.append([clean(project.name), size, str(unread), clean(when), clean(latest.problem or latest.summary)])
    if options.json:
        say_json({"projects": listed, "excluded": known.excluded, "offered": list(known.offered)})
        return 0
    if rows:
        print_table(("project", "waiting", "inbox", "last distil", "what"), rows)
    else:
        note("mem: no project has notes; `mem notes init` makes them")
    if known.offered:
        note(f"mem: {len(known.offered)} repositories of the last 30 days without notes")
    return 0


def _brief(around: Surroundings, options: Namespace) -> int:
    """Print what a session that begins in a folder is shown of its notes."""
    from siftd.capture.intake import Intake
    from siftd.notes import registry
    from siftd.notes.section import NotesSection
    from siftd.workspace.home import ensure_workspace

    folder = _folder(options)
    project = registry.required(around.home, folder)
    paths = around.home.for_workspace(project.workspace)
    ensure_workspace(paths)
    intake = Intake(paths, around.settings, root=project.path)
    lines = NotesSection(around.home, intake.redactor.text, around.settings.notes_exclude).lines([folder])
    if options.json:
        say_json({"project": project.name, "lines": lines})
    for line in lines if not options.json else ():
        say(clean(line))
    return 0


def _exclude(around: Surroundings, options: Namespace) -> int:
    from siftd.notes import scaffold

    folder = _folder(options)
    is_news = scaffold.exclude(folder, around)
    if options.json:
        say_json({"excluded": folder, "isNew": is_news})
    else:
        say(f"{clean(folder)} has no notes {'from now on' if is_news else 'already'}; files that are there stay")
    return 0


def _install_timer(around: Surroundings, options: Namespace) -> int:
    from siftd.notes.timers.installing import install_timer
    from siftd.workspace.home import check_apart

    check_apart(around.home, _folder(options))
    return _say_timer(install_timer(around.home, around.environ, around.user_home, options.kind), options)


def _remove_timer(around: Surroundings, options: Namespace) -> int:
    from siftd.notes.timers.installing import remove_timer

    return _say_timer(remove_timer(around.home, around.environ, around.user_home), options)


def _say_timer(done: Installed, options: Namespace) -> int:
    if options.json:
        changes = [{"path": change.path, "what": change.what} for change in done.changes]
        say_json({"changes": changes, "steps": done.steps})
        return 0
    for change in done.changes:
        say(f"{change.what:<9}  {clean(change.path)}")
    if not done.changes:
        note("mem: no timer was installed")
    for step in done.steps:
        note(f"mem: {clean(step)}")
    return 0
