"""The verbs of `mem`, and how an argument list becomes one of them with its options.

Every verb is a module of its name with `add_arguments(parser)` and `run(context, options) -> exit status`; only the
chosen one is imported and only its parser is built.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from siftd.errors import RequestInvalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

GROUPS = {
    "Find": {
        "search": "find what was done, decided or seen",
        "timeline": "what happened around an event, or last",
        "show": "the whole of an event (e12), a summary (s7), a memory (m3), a note (n:todo.md:9) or a document (d4)",
        "sessions": "the sessions, newest first",
        "session": "one session whole: what was asked, said and done",
        "conversations": "sessions that were named, and what they follow up on; one's tree",
        "web": "open the page that shows all of it, and the HTTP API",
        "top": "what happens now: captures, the drain, searches, what was given",
        "tail": "what is captured, as it comes in",
        "stats": "what was captured, replaced and given by day, as text bars",
        "brief": "what a session would be given at its start",
        "context": "the facts that an agent is handed here, pod by pod, and why",
        "injections": "what agents were given unasked",
        "knowledge": "what the codebase tells of itself: parts, ways in, commands",
        "why": "why a fact is held; why an agent was given a piece, and whether it helped",
        "entity": "who or what a name is: all that is known of it, and what says so",
        "graph": "what hangs together with an entity, and the way from one to another",
    },
    "Keep": {
        "capture": "store what an agent of your own reports, line by line on standard input",
        "remember": "keep a fact, a decision or a preference on purpose",
        "facts": "every fact that holds, by category",
        "correct": "say what holds in the place of a fact",
        "verify": "say that a fact holds, or no more",
        "memories": "facts by time, type or tag; what resembles one, what contradicts",
        "pods": "from where an agent is handed facts; playbooks of your own",
        "pins": "what stands in every session, and what waits for your word to",
        "update": "change what a memory says, or link it",
        "mute": "give a piece of what happened to no agent unasked any more",
        "undo": "bring a superseded summary back for good",
        "notes": "notes of a project, for people",
        "note": "drop a note for this project's files",
        "ingest": "read documents in: files, folders, 'docs/**/*.md', URLs, standard input",
        "documents": "documents that were read in: list, show, remove, read again",
    },
    "Erase": {
        "forget": "forget for good: ids, a session, a file, a text, a time",
        "redact": "show what would be replaced in a file, and why",
        "scrub": "apply today's redaction rules to everything stored",
        "prune": "forget now what the configuration says is too old",
        "pause": "capture nothing more, or nothing more of a session, until `mem resume`",
        "resume": "capture again",
        "exclude": "capture nothing in workspaces under a folder, from now on",
    },
    "Maintain": {
        "info": "the state of this workspace's memory (also `mem status`)",
        "doctor": "check every link of the chain and say the remedy",
        "drain": "summarise and embed now what is still raw",
        "retry": "summarise again what was skipped",
        "reembed": "embed everything again",
        "resummarise": "summarise a time again with the configured backend",
        "rebuild": "build the database again from the log",
        "backup": "copy the database into a file of your own",
        "backfill": "read earlier sessions, of an agent or of a file, into the memory",
        "export": "write everything into a file, as lines of JSON",
        "import": "merge an exported file in, or what another memory keeps",
        "workspaces": "every workspace that has a memory here; adopt a moved one",
        "team": "share memories with a team, and see what it shares",
    },
    "Daemon": {
        "start": "start this workspace's daemon",
        "stop": "stop the daemon, until `mem start` or a new session",
        "logs": "what the daemon did",
    },
    "Set up": {
        "install": "wire siftd into agents' clients: Claude Code and others",
        "uninstall": "take siftd out of them",
        "clients": "what siftd can and cannot do with each agent's client",
        "config": "every setting, its value and where it comes from; set one",
        "completion": "print what completes commands and options in your shell",
        "slash": "run what was typed behind `/mem` (on standard input)",
    },
}
"""The verbs by what they are for, each with what it does."""
VERBS = {verb: summary for group in GROUPS.values() for verb, summary in group.items()}
HIDDEN = ("slash",)
"""Verbs that a program asks, not a person: in no list."""
ALSO = {"status": "info"}
"""Other names of verbs."""
_ELSEWHERE = {
    "list": "timeline",
    "ls": "timeline",
    "history": "timeline",
    "version": "--version",
    "find": "search",
    "add": "remember",
    "delete": "forget",
    "rm": "forget",
}
"""What other programs call it."""


def choose(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Return the verb and the other arguments; options of every verb may also stand before it.

    Prints and exits for `--help` and `--version`; raises RequestInvalid for an unknown verb.
    """
    position = _position_of_verb(arguments)
    if position is None:
        _parse_without_verb(arguments)
    verb = ALSO.get(arguments[position], arguments[position])
    if verb == "help":
        return _help(arguments[position + 1 :])
    if verb not in VERBS:
        from difflib import get_close_matches

        near = [_ELSEWHERE[verb]] if verb in _ELSEWHERE else get_close_matches(verb, VERBS, n=1, cutoff=0.6)
        hint = f"did you mean `mem {near[0]}`?" if near else "`mem --help` lists the commands"
        raise RequestInvalid("there is no such command", hint=hint)
    return verb, [*arguments[:position], *arguments[position + 1 :]]


def _help(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """`mem help VERB` is `mem VERB --help`; alone it lists the verbs."""
    if not arguments:
        _parse_without_verb(["--help"])
    return choose([arguments[0], "--help"])


def load(verb: str) -> Any:
    """Return the module of a verb."""
    return import_module(f"siftd.cli.commands.{verb}")


def parse(verb: str, module: Any, arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options of a verb. Exits with 2 and the usage when they are misused."""
    return parser_of(verb, module).parse_args(arguments)


def parser_of(verb: str, module: Any) -> argparse.ArgumentParser:
    """Return what reads the options of a verb."""
    summary = VERBS[verb]
    description = f"{summary[0].upper()}{summary[1:]}."
    parser = argparse.ArgumentParser(prog=f"mem {verb}", description=description, formatter_class=_format)
    _add_common(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    module.add_arguments(parser)
    return parser


def _position_of_verb(arguments: Sequence[str]) -> int | None:
    is_value = False
    for position, argument in enumerate(arguments):
        if not is_value and not argument.startswith("-"):
            return position
        is_value = argument == "--workspace"
    return None


def _parse_without_verb(arguments: Sequence[str]) -> NoReturn:
    import siftd

    width = max(map(len, VERBS))
    listed = "\n\n".join(
        "\n".join(
            [
                f"{name}:",
                *(f"  {verb:<{width}}  {help_text}" for verb, help_text in group.items() if verb not in HIDDEN),
            ]
        )
        for name, group in GROUPS.items()
    )
    parser = argparse.ArgumentParser(
        prog="mem",
        usage="mem COMMAND [options]",
        description=f"The memory of coding agents. `mem COMMAND --help` tells more of one.\n\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_common(parser)
    parser.add_argument("--version", action="version", version=f"siftd {siftd.__version__}")
    parser.parse_args(arguments)
    parser.print_help(sys.stderr)
    sys.exit(2)


def _format(prog: str) -> argparse.HelpFormatter:
    """Return argparse's formatter with its width: to find that out itself it would import shutil, 4 ms at every run."""
    try:
        columns = os.get_terminal_size().columns or 80
    except OSError:
        columns = 80
    return argparse.HelpFormatter(prog, width=columns - 2)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workspace", metavar="DIR", help="a folder of the workspace (default: where you are)")
