"""Our entries in any JSON text, put in and taken out with every other byte as it was.

Two forms. *Hooks* are elements of arrays, each under its event; a client with groups has them in one of these:

    {"hooks": {"<event>": [{"matcher": "…", "hooks": [<handler>, …]}, …]}}      an element is a group of handlers
    {"version": 1, "hooks": {"<event>": [<handler>, …]}}                        an element is a handler
    {"<event>": [<group>, …]}                                                   events at the top

A *member* has a name of ours in an object: a server of tools, a set of hooks that goes by a name.

    {"mcpServers": {"siftd": <entry>}}

What is ours is known by what it runs (`siftd.install.ours`), wherever it stands: a person may have moved it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from siftd.errors import SettingsUnreadable
from siftd.install.json_edit import cut_child, dump, insert_child, is_to_stay
from siftd.install.json_spans import Child, Node, NotJson, scan
from siftd.install.launcher import is_entry
from siftd.install.ours import NAME, is_our_handler, is_ours

Path = tuple[str, ...]
"""Keys from the top of a text down to a container."""
Place = list[tuple[Node, Child]]
"""Each container with its child, from the whole text down to what is ours."""

HINT = "correct it by hand and run the command again; it was not touched"


def scan_entries(text: str) -> Node:
    """Return the tree of a text that our entries may be put into. Raises SettingsUnreadable."""
    try:
        root = scan(text, comments=True)
    except NotJson as error:
        line = text.count("\n", 0, error.position) + 1
        raise SettingsUnreadable(f"it is not JSON: line {line}", hint=HINT) from error
    if not root.is_object:
        raise SettingsUnreadable("it is not an object", hint=HINT)
    return root


def add_hooks(text: str, under: Path, hooks: Mapping[str, Any]) -> str:
    """Return `text` with exactly one handler of ours for each event of `hooks`, whose values are elements.

    One that is there keeps its place, its group and its other keys; only its command is brought up to date. Ours
    elsewhere, doubled or under other events, are taken out. Raises SettingsUnreadable.
    """
    while place := _find_superfluous(text, under, hooks):
        text = _cut(text, place)
    for event, element in hooks.items():
        place = next((each for each in _handlers(text) if _event_of(each, under) == event), None)
        text = _update(text, place, element) if place else _insert(text, (*under, event), None, element)
    return text


def add_member(text: str, path: Path, value: Mapping[str, Any], key: str = NAME) -> str:
    """Return `text` with our entry `key` in the object at `path`. One of ours that is there keeps its place.

    Raises SettingsUnreadable, also for one of that name that is not ours.
    """
    parent, missing = _descend(scan_entries(text), path)
    found = None if missing else _only(parent, key)
    if found is None:
        return _insert(text, path, key, dict(value))
    if not is_ours(found.node.value):
        raise SettingsUnreadable(f'there is a "{key}" that is not ours', hint="rename it and run the command again")
    if {name: found.node.value.get(name) for name in value} == dict(value):
        return text
    return text[: found.node.start] + dump(dict(value)) + text[found.node.end :]


def remove_entries(text: str) -> str:
    """Return `text` without anything of ours, and without what only held it. Raises SettingsUnreadable."""
    while place := next(_places(text), None):
        text = _cut(text, place)
    return text


def list_handlers(text: str, under: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return our handlers in `text`, each with its event ("" elsewhere). Raises SettingsUnreadable."""
    return [(_event_of(place, under) or "", place[-1][1].node.value) for place in _handlers(text)]


def find_member(text: str, path: Path, key: str = NAME) -> Any:
    """Return our entry `key` in the object at `path`; None if there is none of ours. Raises SettingsUnreadable."""
    value: Any = scan_entries(text).value
    for name in (*path, key):
        value = value.get(name) if isinstance(value, dict) else None
    return value if is_ours(value) else None


# ---- finding -------------------------------------------------------------------------------------------------------


def _places(text: str) -> Iterator[Place]:
    """Yield where anything of ours stands, a member of ours as a whole."""
    return _walk([], scan_entries(text), lambda each: is_our_handler(each.node.value) or _is_our_member(each))


def _handlers(text: str) -> Iterator[Place]:
    """Yield where handlers of ours stand, also within a member of ours."""
    handlers = _walk([], scan_entries(text), lambda each: is_our_handler(each.node.value))
    return (place for place in handlers if place[-1][1].key is None)


def _is_our_member(child: Child) -> bool:
    return child.key == NAME and is_ours(child.node.value)


def _walk(above: Place, node: Node, is_wanted: Callable[[Child], bool]) -> Iterator[Place]:
    for child in node.children:
        place = [*above, (node, child)]
        if is_wanted(child):
            yield place
        else:
            yield from _walk(place, child.node, is_wanted)


def _event_of(place: Place, under: Path) -> str | None:
    """Return the event under which a place stands; None if it is elsewhere."""
    keys = [child.key for _, child in place]
    return keys[len(under)] if tuple(keys[: len(under)]) == under and len(keys) > len(under) + 1 else None


def _find_superfluous(text: str, under: Path, hooks: Mapping[str, Any]) -> Place | None:
    """Return a handler of ours that is not the first of an event of `hooks`."""
    seen: set[str] = set()
    for place in _handlers(text):
        event = _event_of(place, under)
        if event is None or event not in hooks or event in seen:
            return place
        seen.add(event)
    return None


def _only(node: Node, key: str) -> Child | None:
    """Return the member `key`; one given twice is refused, since readers differ on which counts."""
    found = node.find_all(key)
    if len(found) > 1:
        raise SettingsUnreadable("a key is given twice on the way to our entries", hint=HINT)
    return found[0] if found else None


def _descend(root: Node, path: Sequence[str]) -> tuple[Node, Sequence[str]]:
    """Return the deepest container of `path` that is there, and the keys below it that are not."""
    node = root
    for depth, key in enumerate(path):
        if not node.is_object:
            raise SettingsUnreadable(f'"{key}" is in no object', hint=HINT)
        found = _only(node, key)
        if found is None:
            return node, path[depth:]
        node = found.node
    return node, ()


# ---- putting in and taking out -------------------------------------------------------------------------------------


def _insert(text: str, path: Path, key: str | None, value: Any) -> str:
    """Insert a member (or, for the key None, an element) into the container at `path`, made if it is not there."""
    root = scan_entries(text)
    parent, missing = _descend(root, path)
    if not missing:
        if not (parent.is_array if key is None else parent.is_object):
            raise SettingsUnreadable(f'"{path[-1]}" is of another kind than the client\'s', hint=HINT)
        return insert_child(text, root, parent, key, value)
    value = [value] if key is None else {key: value}
    for name in reversed(missing[1:]):
        value = {name: value}
    return insert_child(text, root, parent, missing[0], value)


def _update(text: str, place: Place, element: Any) -> str:
    """Bring the commands of a handler up to date with those of the handler in `element`."""
    node = place[-1][1].node
    wanted = next(_handlers_in(element))
    for key, command in wanted.items():
        found = node.find_all(key)
        if is_entry(command) and found and found[-1].node.value != command:
            span = found[-1].node
            return _update_again(text[: span.start] + dump(command) + text[span.end :], place, element)
    return text


def _update_again(text: str, place: Place, element: Any) -> str:
    """Go on with the handler's other commands: positions have moved."""
    start = place[-1][1].at
    return _update(text, next(each for each in _handlers(text) if each[-1][1].at == start), element)


def _handlers_in(value: Any) -> Iterator[Mapping[str, Any]]:
    if is_our_handler(value):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _handlers_in(each)


def _cut(text: str, place: Place) -> str:
    """Cut what is ours, or the largest thing around it that is there only for it."""
    while len(place) > 1 and (_is_group(place) or _is_only_handler(place) or not is_to_stay(text, place[-1][0])):
        place = place[:-1]
    return cut_child(text, *place[-1])


def _is_group(place: Place) -> bool:
    """Whether the last child is all the handlers of a group, which is nothing without them."""
    return place[-1][1].key == "hooks" and place[-2][0].is_array


def _is_only_handler(place: Place) -> bool:
    """Whether the last child is the one handler of a group."""
    return len(place[-1][0].children) == 1 and len(place) > 2 and _is_group(place[:-1])
