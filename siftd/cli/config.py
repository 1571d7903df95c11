"""`mem config`: every setting, the value in force and where it comes from."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import Any

from siftd import config
from siftd.cli.context import Context
from siftd.cli.output import clean, print_table, say, say_json, tell
from siftd.errors import RequestInvalid
from siftd.home import read_config


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("key", nargs="?", metavar="KEY", help="only this setting, such as memory.backend")


def run(context: Context, options: Namespace) -> int:
    settings, problem = _list_settings(context)
    if options.key is not None:
        settings = [_find(settings, options.key)]
    if options.json:
        say_json({"file": context.home.config, "problem": problem, "settings": settings})
    elif options.key is not None:
        say(clean(json.dumps(settings[0]["value"], ensure_ascii=False)))
    else:
        rows = [
            (each["key"], json.dumps(each["value"], ensure_ascii=False), each["source"], each["meaning"])
            for each in settings
        ]
        print_table(("key", "value", "from", "what it decides"), rows)
        tell(f"mem: the file is {context.home.config}; a running daemon has read it when it started")
    if problem:
        tell(f"mem: {clean(problem)}")
    return 0


def _list_settings(context: Context) -> tuple[list[dict[str, Any]], str | None]:
    from_file, problem = read_config(context.home)
    settings = config.Settings(from_file)
    listed = []
    for key in config.KEYS:
        source = "file" if key.name in from_file else "default"
        shown = {"key": key.name, "value": settings[key.name], "source": source, "default": key.default}
        listed.append(shown | {"meaning": key.meaning})
    return listed, problem


def _find(settings: list[dict[str, Any]], name: str) -> dict[str, Any]:
    for each in settings:
        if each["key"] == name:
            return each
    from difflib import get_close_matches

    near = get_close_matches(name, [each["key"] for each in settings], n=1, cutoff=0.0)
    raise RequestInvalid("there is no such setting", hint=f"did you mean {near[0]}?")
