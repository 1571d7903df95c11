"""Writing one setting into `config.json`, everything else in it as it means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from siftd.cli.context import Context
from siftd.config import parse_file
from siftd.errors import ConfigInvalid
from siftd.foreign_file import read
from siftd.workspace.home import CONFIG_BYTES_MAX, ensure_folder, write_private


def read_document(path: str) -> dict[str, Any]:
    """Return the configuration as it is written, empty if there is none. Raises ConfigInvalid for one not sound."""
    try:
        text = read(path, CONFIG_BYTES_MAX, follow=True).decode()
    except FileNotFoundError:
        return {}
    parse_file(text)
    document: dict[str, Any] = json.loads(text) if text.strip() else {}
    return document


def write_setting(context: Context, document: dict[str, Any], key: str, value: Any) -> None:
    """Write `document` with `key` set, where it is set already or else under its section. Raises ConfigInvalid."""
    holder, name = _place(document, key)
    holder[name] = value
    if parse_file(json.dumps(document)).get(key) != value:
        raise ConfigInvalid(f"{key} is set in two places", hint="leave one of them in config.json")
    _write(context, document)


def unset(context: Context, document: dict[str, Any], key: str) -> bool:
    """Write `document` without `key`; return whether it was set."""
    holder, name = _place(document, key)
    if name not in holder:
        return False
    del holder[name]
    _write(context, document)
    return True


def _place(document: dict[str, Any], key: str) -> tuple[dict[str, Any], str]:
    """Return the object that holds `key`, or should, and its name there: whole in the document, or nested."""
    holder, name = document, key
    while name not in holder and "." in name:
        section, _, rest = name.partition(".")
        if not isinstance(holder.get(section), dict):
            break
        holder, name = holder[section], rest
    return holder, name


def _write(context: Context, document: dict[str, Any]) -> None:
    parse_file(json.dumps(document))
    ensure_folder(context.home.folder)
    write_private(Path(context.home.config), (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode())
