"""The tables of docs/cli.md, docs/clients.md and docs/configuration.md, from the code: `cog -r` with their names."""

from __future__ import annotations

import argparse
import json

from siftd.cli.command_table import GROUPS, HIDDEN, load, parser_of
from siftd.cli.commands.clients import format_page
from siftd.config import KEYS


def settings() -> str:
    """Return the table of the settings."""
    rows = [f"| `{key.name}` | `{json.dumps(key.default)}` | {key.meaning} |" for key in KEYS]
    return "\n".join(["| key | default | what it decides |", "|---|---|---|", *rows, ""])


def clients() -> str:
    """Return the table of the clients."""
    return format_page()


def commands() -> str:
    """Return a section for each group of commands: what each does, and its options."""
    lines = []
    for group, verbs in GROUPS.items():
        lines += [f"## {group}", ""]
        for verb, summary in verbs.items():
            if verb not in HIDDEN:
                lines += [f"**`{_usage(verb)}`**: {summary}", "", *_options(verb), ""]
    return "\n".join(lines)


def _usage(verb: str) -> str:
    positional = [each for each in _actions(verb) if not each.option_strings]
    return " ".join(["mem", verb, *(_placeholder(each) for each in positional)])


def _placeholder(action: argparse.Action) -> str:
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.choices:
        name = "|".join(map(str, action.choices))
    shown = f"{name}…" if action.nargs in ("*", "+") else name
    return f"[{shown}]" if action.nargs in ("*", "?") else shown


def _options(verb: str) -> list[str]:
    shown = [each for each in _actions(verb) if each.option_strings and each.dest not in ("help", "json", "workspace")]
    return [f"- `{_option(each)}` {(each.help or '').replace('%%', '%')}".rstrip() for each in shown]


def _option(action: argparse.Action) -> str:
    names = ", ".join(action.option_strings)
    if action.nargs == 0:
        return names
    value = "|".join(map(str, action.choices)) if action.choices else action.metavar or action.dest.upper()
    return f"{names} {value}" if action.nargs is None else f"{names} [{value}]"


def _actions(verb: str) -> list[argparse.Action]:
    return parser_of(verb, load(verb))._actions
