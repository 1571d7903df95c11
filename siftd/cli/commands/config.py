"""`mem config`: every setting, the value in force and where it comes from; with a value it sets one."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import Any

from siftd import config
from siftd.cli.config_file import read_document, unset, write_setting
from siftd.cli.context import Context
from siftd.cli.output import clean, note, print_table, say, say_json
from siftd.errors import RequestInvalid
from siftd.workspace.home import read_config


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("key", nargs="?", metavar="KEY", help="only this setting, such as memory.backend")
    parser.add_argument("value", nargs="?", metavar="VALUE", help="what it is from now on: text, or JSON for the rest")
    parser.add_argument("--unset", action="store_true", help="take it out of the file: its default holds again")


def run(context: Context, options: Namespace) -> int:
    if options.value is not None or options.unset:
        return _set(context, options)
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
        note(f"mem: the file is {context.home.config}; a running daemon has read it when it started")
    if problem:
        note(f"mem: {clean(problem)}")
    return 0


def _set(context: Context, options: Namespace) -> int:
    if options.key is None:
        raise RequestInvalid("which setting?", hint="`mem config KEY VALUE`; `mem config` lists them")
    key = _find(_list_settings(context)[0], options.key)["key"]
    document = read_document(context.home.config)
    if options.unset:
        unset(context, document, key)
    else:
        kind = config.find_key(key).kind
        write_setting(context, document, key, options.value if kind == "text" else _as_json(options.value))
    setting = _find(_list_settings(context)[0], key)
    if options.json:
        say_json({"file": context.home.config, "settings": [setting]})
    else:
        say(f"{key} is {clean(json.dumps(setting['value'], ensure_ascii=False))} ({setting['source']})")
        if context.is_running():
            note("mem: the running daemon goes on with what it was; `mem stop && mem start` takes this over")
    return 0


def _as_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _list_settings(context: Context) -> tuple[list[dict[str, Any]], str | None]:
    from_file, problem = read_config(context.home)
    values = config.Settings.of(from_file).by_key()
    listed = []
    for key in config.KEYS:
        source = "file" if key.name in from_file else "default"
        shown = {"key": key.name, "value": values[key.name], "source": source, "default": key.default}
        listed.append(shown | {"meaning": key.meaning})
    return listed, problem


def _find(settings: list[dict[str, Any]], name: str) -> dict[str, Any]:
    for each in settings:
        if each["key"] == name:
            return each
    from difflib import get_close_matches

    near = get_close_matches(name, [each["key"] for each in settings], n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}?" if near else "`mem config` lists them"
    raise RequestInvalid("there is no such setting", hint=hint)
