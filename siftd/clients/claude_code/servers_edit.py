"""Edits of Claude Code's own file `.claude.json` that keep every byte they are not about: the MCP server of siftd.

    {"mcpServers": {"siftd": <entry>}, "projects": {"<folder>": {"mcpServers": {"siftd": <entry>}, …}, …}, …}

The first is the user's, for every project; the second is the user's for one ("local" scope of `claude mcp add`). The
client writes this file all the time and keeps what it does not know. It holds keys too: no byte of it is kept anywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from siftd.errors import SettingsUnreadable
from siftd.install.json_edit import cut_child, dump, insert_child, is_to_stay
from siftd.install.json_spans import Child, Node, NotJson, scan

NAME = "siftd"
HOLDER = "mcpServers"
PROJECTS = "projects"

Entry = Mapping[str, Any]

_HINT = "correct it by hand and run the command again; it was not touched"


def add_server(text: str, project: str | None, entry: Entry) -> str:
    """Return `text` with our server for the user (None) or for one project.

    One of ours that is there keeps its place. Raises SettingsUnreadable, also for one of that name that is not ours.
    """
    root = _scan(text)
    path = [HOLDER] if project is None else [PROJECTS, project, HOLDER]
    parent, missing = _descend(root, path)
    if missing:
        value: Any = {NAME: dict(entry)}
        for key in reversed(missing[1:]):
            value = {key: value}
        return insert_child(text, root, parent, missing[0], value)
    found = _only(parent, NAME)
    if found is None:
        return insert_child(text, root, parent, NAME, dict(entry))
    if not is_our_server(found.node.value):
        raise SettingsUnreadable(
            f"an MCP server {NAME} is there that is not ours", hint="rename it, or install with --no-tools"
        )
    if {key: found.node.value.get(key) for key in entry} == dict(entry):
        return text
    return text[: found.node.start] + dump(dict(entry)) + text[found.node.end :]


def remove_servers(text: str, scopes: Collection[str | None] | None = None) -> str:
    """Return `text` without our server of these scopes (None in it: the user's; None for it: every scope), and without
    what only held it."""
    while place := next(_places(text, scopes), None):
        text = _cut(text, place)
    return text


def has_servers(text: str) -> bool:
    """Whether any server of ours is there, of whichever scope."""
    return any(_places(text, None))


def is_our_server(entry: Any) -> bool:
    """Whether an entry under "mcpServers" runs `siftd mcp`, from whatever path."""
    if not isinstance(entry, dict):
        return False
    arguments = entry.get("args")
    words = [str(entry.get("command", "")), *(map(str, arguments) if isinstance(arguments, list) else ())]
    return "mcp" in words and any(word == "siftd" or word.endswith(("/siftd", "/siftd/__main__.py")) for word in words)


def _scan(text: str) -> Node:
    try:
        root = scan(text)
    except NotJson as error:
        line = text.count("\n", 0, error.position) + 1
        raise SettingsUnreadable(f"it is not JSON: line {line}", hint=_HINT) from error
    if not root.is_object:
        raise SettingsUnreadable("it is not an object", hint=_HINT)
    return root


def _descend(root: Node, path: list[str]) -> tuple[Node, list[str]]:
    """Return the deepest container of `path` that is there, and the keys below it that are not."""
    node = root
    for depth, key in enumerate(path):
        found = _only(node, key)
        if found is None:
            return node, path[depth:]
        if not found.node.is_object:
            raise SettingsUnreadable(f'"{path[-1]}" is in no object', hint=_HINT)
        node = found.node
    return node, []


def _only(node: Node, key: str) -> Child | None:
    """Return the member `key`; one given twice is refused, since readers differ on which counts."""
    found = node.find_all(key)
    if len(found) > 1:
        raise SettingsUnreadable("a key is given twice on the way to the servers", hint=_HINT)
    return found[0] if found else None


Place = list[tuple[Node, Child]]
"""Each container with its child, from the whole text down to our server."""


def _places(text: str, scopes: Collection[str | None] | None) -> Iterator[Place]:
    root = _scan(text)
    if scopes is None or None in scopes:
        yield from _servers([], root)
    for projects in root.find_all(PROJECTS):
        for each in projects.node.children:
            if scopes is None or each.key in scopes:
                yield from _servers([(root, projects), (projects.node, each)], each.node)


def _servers(above: Place, node: Node) -> Iterator[Place]:
    for holder in node.find_all(HOLDER):
        for server in holder.node.find_all(NAME):
            if is_our_server(server.node.value):
                yield [*above, (node, holder), (holder.node, server)]


def _cut(text: str, place: Place) -> str:
    """Cut the server, or the largest thing around it that is there only for it."""
    while len(place) > 1 and not is_to_stay(text, place[-1][0]):
        place = place[:-1]
    return cut_child(text, *place[-1])
