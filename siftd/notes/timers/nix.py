"""A module for home-manager: a file of the home that a person's own configuration imports.

    imports = [ /home/a/.siftd/default/siftd-notes.nix ];

It says of the person's systemd, or on macOS of their launchd, what `systemd.py` and `launchd.py` say. Nothing of siftd
runs `home-manager`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

from siftd.install.edits import OWN_MARK, OwnFile
from siftd.notes.timers import launchd, systemd
from siftd.notes.timers.order import Order
from siftd.workspace.paths import Home

MODE = 0o644
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')


def file(order: Order, home: Home) -> OwnFile:
    """Return the module."""
    return OwnFile(f"{home.folder}/{order.name}.nix", _text(order), mode=MODE)


def how_to_import(path: str) -> str:
    """Return what a person does with it."""
    return f"add {path} to the `imports` of your home-manager configuration, then `home-manager switch`"


def named_paths(text: str) -> list[str]:
    """Return the files that the module needs to be there."""
    found = [re.sub(r"\\(.)", r"\1", each) for each in _TEXT.findall(text)]
    paths = [each for each in found if each.startswith("/") and ":/" not in each]
    return [each.replace("%%", "%") for each in paths] if systemd.CONDITION in text else paths


def _text(order: Order) -> str:
    name = _expression(order.name, "")
    if sys.platform == "darwin":
        agent = {"enable": True, "config": launchd.settings(order)}
        body = f"  launchd.agents.{name} = {_expression(agent, '  ')};\n"
    else:
        service, timer = (_expression(_as_set(each), "  ") for each in (systemd.service(order), systemd.timer(order)))
        body = f"  systemd.user.services.{name} = {service};\n  systemd.user.timers.{name} = {timer};\n"
    return f"# {OWN_MARK}\n{{ ... }}:\n{{\n{body}}}\n"


def _as_set(sections: Sequence[systemd.Section]) -> dict[str, dict[str, str | list[str]]]:
    """Return a unit's sections as home-manager takes them: a key that stands twice is a list."""
    made: dict[str, dict[str, str | list[str]]] = {}
    for heading, entries in sections:
        values: dict[str, list[str]] = {}
        for key, value in entries:
            values.setdefault(key, []).append(value)
        made[heading] = {key: each if len(each) > 1 else each[0] for key, each in values.items()}
    return made


def _expression(value: Any, indent: str) -> str:
    """Return a value in the language of Nix."""
    deeper = f"{indent}  "
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case list():
            return "\n".join(["[", *(f"{deeper}{_expression(each, deeper)}" for each in value), f"{indent}]"])
        case dict():
            lines = [f"{deeper}{key} = {_expression(each, deeper)};" for key, each in value.items()]
            return "\n".join(["{", *lines, f"{indent}}}"])
        case _:
            return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"').replace("${", "\\${") + '"'
