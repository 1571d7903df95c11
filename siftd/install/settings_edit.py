"""Edits of a Claude Code settings file that keep every byte they are not about.

    {"hooks": {"<event>": [{"matcher": "…", "hooks": [<handler>, …]}, …], …}, …}

A *handler* is `{"type": "command", "command": …}`; a *group* holds some of them. Ours is one group with one handler
for each event. The text is never dumped anew: what is inserted follows the file's own indentation and line ends, and
taking it out is the exact inverse.

For that, one thing must be seen in the text: whether the container our entry sits in was there before, empty, or came
with it. What we create has white space before its closing bracket, what we found empty has none:

    "Stop": []   becomes   "Stop": [{…}]   and goes back to   "Stop": []
    nothing      becomes   "Stop": [ {…} ]                    to nothing

A file that a program has dumped anew since, indented, reads as the second kind: what is emptied is then removed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from siftd.errors import SettingsUnreadable
from siftd.install.json_spans import BYTE_ORDER_MARK, Child, Node, NotJson, scan

Handler = Mapping[str, Any]
IsOurs = Callable[[Handler], bool]

DEFAULT_INDENT = "  "

_HINT = "correct it by hand and run the command again; it was not touched"
_LAST_LINE_BREAK = re.compile(r"\r?\n[^\n]*\Z")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a handler stands: its event, and the spans of that, of its group and of itself."""

    event: Child
    group: Child
    handler: Child


def add_hooks(text: str, hooks: Mapping[str, Handler], is_ours: IsOurs) -> str:
    """Return `text` with exactly one handler of ours for each event of `hooks`.

    One that is there keeps its place, its group and its other keys; only its command is brought up to date. Ours
    elsewhere, doubled or under other events, are taken out. Raises SettingsUnreadable.
    """
    while place := _find_superfluous(text, hooks, is_ours):
        text = _cut(text, place)
    for event, handler in hooks.items():
        ours = next((place for place in _ours(text, is_ours) if place.event.key == event), None)
        text = _update(text, ours, handler) if ours else _insert(text, event, handler)
    return text


def remove_hooks(text: str, is_ours: IsOurs) -> str:
    """Return `text` without our handlers, and without what only held them. Raises SettingsUnreadable."""
    while place := next(_ours(text, is_ours), None):
        text = _cut(text, place)
    return text


def list_handlers(text: str) -> list[tuple[str, Handler]]:
    """Return every (event, handler) of the settings in `text`. Raises SettingsUnreadable."""
    return [(place.event.key or "", place.handler.node.value) for place in _places(scan_settings(text))]


def scan_settings(text: str) -> Node:
    """Return the tree of a settings file in which hooks can be edited. Raises SettingsUnreadable."""
    try:
        root = scan(text)
    except NotJson as error:
        line = text.count("\n", 0, error.position) + 1
        raise SettingsUnreadable(f"the settings are not JSON: line {line}", hint=_HINT) from error
    _require(root.is_object, "the settings are not an object")
    hooks = _find_only(root, "hooks")
    if hooks is not None:
        _check_hooks(hooks.node)
    return root


def _check_hooks(hooks: Node) -> None:
    _require(hooks.is_object, '"hooks" is not an object')
    for event in hooks.children:
        _find_only(hooks, event.key or "")
        _require(event.node.is_array, "an event's hooks are not an array")
        for group in event.node.children:
            handlers = _find_only(group.node, "hooks") if group.node.is_object else None
            if handlers is None or not handlers.node.is_array:
                raise SettingsUnreadable('an entry of an event has no array "hooks"', hint=_HINT)
            _require(all(child.node.is_object for child in handlers.node.children), "a hook is not an object")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise SettingsUnreadable(otherwise, hint=_HINT)


def _find_only(node: Node, key: str) -> Child | None:
    """Return the member `key`; a key given twice is refused, since readers differ on which one counts."""
    found = node.find_all(key)
    if len(found) > 1:
        raise SettingsUnreadable("a key under hooks is given twice", hint=_HINT)
    return found[0] if found else None


def _ours(text: str, is_ours: IsOurs) -> Iterator[Place]:
    return (place for place in _places(scan_settings(text)) if is_ours(place.handler.node.value))


def _places(root: Node) -> Iterator[Place]:
    for hooks in root.find_all("hooks"):
        for event in hooks.node.children:
            for group in event.node.children:
                for handler in _handlers(group).node.children:
                    yield Place(event, group, handler)


def _handlers(group: Child) -> Child:
    return group.node.find_all("hooks")[0]


# ---- putting in ----------------------------------------------------------------------------------------------------


def _update(text: str, place: Place, handler: Handler) -> str:
    command = place.handler.node.find_all("command")[-1].node
    if command.value == handler["command"]:
        return text
    return text[: command.start] + _dump(handler["command"]) + text[command.end :]


def _insert(text: str, event_name: str, handler: Handler) -> str:
    root = scan_settings(text)
    group = {"hooks": [dict(handler)]}
    hooks = _find_only(root, "hooks")
    if hooks is None:
        return _insert_child(text, root, root, "hooks", {event_name: [group]})
    event = _find_only(hooks.node, event_name)
    if event is None:
        return _insert_child(text, root, hooks.node, event_name, [group])
    return _insert_child(text, root, event.node, None, group)


def _insert_child(text: str, root: Node, parent: Node, key: str | None, value: Any) -> str:
    if parent.children:
        return _append(text, root, parent, key, value)
    return _insert_first(text, root, parent, key, value)


def _append(text: str, root: Node, parent: Node, key: str | None, value: Any) -> str:
    """Insert after the last child, set off from it as that is from what stands before it."""
    last = parent.children[-1]
    before = text[: last.at]
    gap = before[len(before.rstrip(" \t\r\n")) :]
    at = last.end
    if "\n" not in gap:
        return text[:at] + "," + (gap or " ") + _render(key, _dump_padded(value)) + text[at:]
    eol, indent = _eol(text), gap.rpartition("\n")[2]
    return text[:at] + "," + eol + indent + _render(key, _dump_indented(text, root, value, indent)) + text[at:]


def _insert_first(text: str, root: Node, parent: Node, key: str | None, value: Any) -> str:
    """Insert into a container that is empty, keeping the white space in it."""
    at = parent.end - 1
    if not _is_indented(text, root):
        return text[:at] + _render(key, _dump_padded(value)) + text[at:]
    # A lone carriage return that ends the kept white space must not become half of our line end.
    eol = "\r\n" if text[at - 1] == "\r" else _eol(text)
    indent = _line_indent(text, parent.start) + _indent_unit(text, root)
    tail = eol if parent is root else ""
    return text[:at] + eol + indent + _render(key, _dump_indented(text, root, value, indent)) + tail + text[at:]


def _render(key: str | None, value: str) -> str:
    return value if key is None else f"{_dump(key)}: {value}"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _dump_padded(value: Any) -> str:
    """On one line, with the white space before closing brackets that tells our containers from found ones."""
    match value:
        case dict():
            return "{ " + ", ".join(f"{_dump(key)}: {_dump_padded(item)}" for key, item in value.items()) + " }"
        case list():
            return "[ " + ", ".join(_dump_padded(item) for item in value) + " ]"
        case _:
            return _dump(value)


def _dump_indented(text: str, root: Node, value: Any, indent: str) -> str:
    dumped = json.dumps(value, ensure_ascii=False, indent=_indent_unit(text, root))
    return dumped.replace("\n", _eol(text) + indent)


def _eol(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _is_indented(text: str, root: Node) -> bool:
    return not root.children or "\n" in text[root.start : root.end]


def _indent_unit(text: str, root: Node) -> str:
    """One step of indentation: what stands before the first key, or the default."""
    line = _line_indent(text, root.children[0].at) if root.children else ""
    return line.removeprefix(_line_indent(text, root.start)) or DEFAULT_INDENT


def _line_indent(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position].removeprefix(BYTE_ORDER_MARK)
    return line[: len(line) - len(line.lstrip(" \t"))]


# ---- taking out ----------------------------------------------------------------------------------------------------


def _find_superfluous(text: str, hooks: Mapping[str, Handler], is_ours: IsOurs) -> Place | None:
    """Return a handler of ours that is not the first of an event of `hooks`."""
    seen: set[str | None] = set()
    for place in _ours(text, is_ours):
        if place.event.key not in hooks or place.event.key in seen:
            return place
        seen.add(place.event.key)
    return None


def _cut(text: str, place: Place) -> str:
    """Cut the handler, or the largest thing around it that is there only for it."""
    root = scan_settings(text)
    hooks = root.find_all("hooks")[0]
    handlers = _handlers(place.group)
    if len(handlers.node.children) > 1:
        return _cut_child(text, handlers.node, place.handler)
    if _is_to_stay(place.event.node):
        return _cut_child(text, place.event.node, place.group)
    if _is_to_stay(hooks.node):
        return _cut_child(text, hooks.node, place.event)
    return _cut_child(text, root, hooks)


def _is_to_stay(container: Node) -> bool:
    """Whether a container stays when a child of it goes: it holds others, or was there, empty, before us."""
    return len(container.children) > 1 or container.children[-1].end == container.end - 1


def _cut_child(text: str, parent: Node, child: Child) -> str:
    at = [other.at for other in parent.children].index(child.at)
    if at > 0:
        return text[: parent.children[at - 1].end] + text[child.end :]
    if len(parent.children) > 1:
        return text[: child.at] + text[parent.children[1].at :]
    gap = _LAST_LINE_BREAK.sub("", text[parent.start + 1 : child.at])
    return text[: parent.start + 1] + gap + text[parent.end - 1 :]
