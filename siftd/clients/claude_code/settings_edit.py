"""Edits of a Claude Code settings file that keep every byte they are not about.

    {"hooks": {"<event>": [{"matcher": "…", "hooks": [<handler>, …]}, …], …}, …}

A *handler* is `{"type": "command", "command": …}`; a *group* holds some of them. Ours is one group with one handler
for each event. How text is put in and taken out: `siftd.install.json_edit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from siftd.errors import SettingsUnreadable
from siftd.install.json_edit import cut_child, dump, insert_child, is_to_stay
from siftd.install.json_spans import Child, Node, NotJson, scan

Handler = Mapping[str, Any]
IsOurs = Callable[[Handler], bool]

_HINT = "correct it by hand and run the command again; it was not touched"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a handler stands: its event, and the spans of that, of its group and of itself."""

    event: Child
    group: Child
    handler: Child


def add_hooks(text: str, hooks: Mapping[str, Handler], is_ours: IsOurs, *, matcher: str = "") -> str:
    """Return `text` with exactly one handler of ours for each event of `hooks`, a new one behind `matcher`.

    One that is there keeps its place, its group and its other keys; only its command is brought up to date. Ours
    elsewhere, doubled or under other events, are taken out. Raises SettingsUnreadable.
    """
    while place := _find_superfluous(text, hooks, is_ours):
        text = _cut(text, place)
    for event, handler in hooks.items():
        ours = next((place for place in _ours(text, is_ours) if place.event.key == event), None)
        text = _update(text, ours, handler) if ours else _insert(text, event, handler, matcher)
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
    return text[: command.start] + dump(handler["command"]) + text[command.end :]


def _insert(text: str, event_name: str, handler: Handler, matcher: str) -> str:
    root = scan_settings(text)
    group = {**({"matcher": matcher} if matcher else {}), "hooks": [dict(handler)]}
    hooks = _find_only(root, "hooks")
    if hooks is None:
        return insert_child(text, root, root, "hooks", {event_name: [group]})
    event = _find_only(hooks.node, event_name)
    if event is None:
        return insert_child(text, root, hooks.node, event_name, [group])
    return insert_child(text, root, event.node, None, group)


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
        return cut_child(text, handlers.node, place.handler)
    if is_to_stay(text, place.event.node):
        return cut_child(text, place.event.node, place.group)
    if is_to_stay(text, hooks.node):
        return cut_child(text, hooks.node, place.event)
    return cut_child(text, root, hooks)
