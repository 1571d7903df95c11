"""`mem pods`: from where an agent is handed facts; playbooks of your own."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import clean, count, print_table, say, say_json
from siftd.cli.pod_page import say_pod
from siftd.errors import RequestInvalid
from siftd.wire import asking

VERBS = ("list", "show", "create", "archive")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", default="list", choices=VERBS, help="what to do (default: list)")
    parser.add_argument("pod", nargs="?", metavar="POD", help="vital, project, playbook:release, ...")
    parser.add_argument("ids", nargs="*", default=[], metavar="ID", help="create: facts to put into it (m3)")
    parser.add_argument("--command", nargs="+", default=[], metavar="ID", help="create: facts that say what to run")
    parser.add_argument("--leave-out", nargs="+", default=[], metavar="ID", help="create: facts never to stand in it")
    parser.add_argument("--undo", action="store_true", help="archive: bring it back")
    parser.add_argument("--global", dest="everywhere", action="store_true", help="create, archive: for every project")
    parser.add_argument("--session", metavar="ID", help="list, show: as this session sees them")


def run(context: Context, options: Namespace) -> int:
    if options.what == "list":
        return _list(context, options)
    if not options.pod:
        raise RequestInvalid("no pod is named", hint="`mem pods` lists them: vital, project, playbook:release")
    return {"show": _show, "create": _create, "archive": _archive}[options.what](context, options)


def _list(context: Context, options: Namespace) -> int:
    answer = context.ask(asking.Pods(session=options.session))
    if options.json:
        say_json(answer)
        return 0
    rows = [
        [
            each["pod"],
            each["title"],
            f"{each['filled']}/{each['slots']}",
            str(each["members"] or "-"),
            f"rests: {each['inactive']}" if each["inactive"] else "active",
        ]
        for each in answer["pods"]
    ]
    print_table(("pod", "title", "slots", "members", "state"), rows)
    return 0


def _show(context: Context, options: Namespace) -> int:
    # A playbook's own name is asked, so that it is shown as an agent is handed it.
    about = options.pod.partition(":")[2]
    answer = context.ask(asking.Pod(pod=options.pod, session=options.session, about=about))
    if options.json:
        say_json(answer)
    else:
        say_pod(answer["pod"], is_explained=True)
    return 0


def _create(context: Context, options: Namespace) -> int:
    kind, _, name = options.pod.partition(":")
    roles = {"fact": options.ids, "command": options.command, "left out": options.leave_out}
    given = {role: ids for role, ids in roles.items() if ids} or {"fact": []}
    answers = [
        context.ask(asking.CreatePod(type=kind, name=name, ids=ids, role=role, project=not options.everywhere))
        for role, ids in given.items()
    ]
    members = sum(each["members"] for each in answers)
    pod, is_new = answers[0]["pod"], answers[0]["isNew"]
    if options.json:
        say_json({"pod": pod, "isNew": is_new, "members": members})
    else:
        say(f"{clean(pod)}  {'made' if is_new else 'there already'}, {count(members, 'fact')} put in place")
    return 0


def _archive(context: Context, options: Namespace) -> int:
    asked = asking.ArchivePod(pod=options.pod, undo=options.undo, project=not options.everywhere)
    answer = context.ask(asked)
    if options.json:
        say_json(answer)
    else:
        say(f"{clean(answer['pod'])}  {answer['status']}")
    return 0
