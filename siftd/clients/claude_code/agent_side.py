"""What `mem doctor` says of the agent's side: the tools' registration, and Claude Code's own memory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from siftd.clients.claude_code.doctor import PLUGIN_NAME
from siftd.clients.claude_code.guard import EVENT, SCRIPTS
from siftd.clients.claude_code.servers_edit import HOLDER, PROJECTS, is_our_server
from siftd.clients.claude_code.settings import Wiring, claude_folder, parse_command, servers_file
from siftd.clients.client import Where
from siftd.finding import Finding
from siftd.foreign_file import SETTINGS_BYTES_MAX, read

_GUARD_AGAIN = "run `mem install --guard-auto-memory`"
_YES = ("1", "true", "yes", "on")
"""What the client takes for yes in a variable."""


def check_agent(where: Where) -> Iterator[Finding]:
    """Yield how the agent reaches the memory by itself: each way once is enough."""
    settings = [_read(path, follow=is_own) for path, is_own in _settings_files(where)]
    ways = [*_servers(where), *(["the plugin"] if any(map(_has_plugin, settings)) else [])]
    if len(ways) > 1:
        message = f"the tools are registered more than once: by {', '.join(ways)}"
        yield Finding("tools", "problem", message, "`claude mcp remove siftd`, or disable the plugin")
    elif ways:
        yield Finding("tools", "ok", f"the agent can search and remember by itself, by {ways[0]}")
    else:
        message = "the agent is given what matters, but cannot search by itself"
        yield Finding("tools", "note", message, "run `mem install` again, without --no-tools")
    yield from _check_own_memory(where, settings)


def _check_own_memory(where: Where, settings: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    """Yield whether the client keeps a memory of its own beside this one, and whether the guard keeps it closed."""
    guards = [parsed for each in settings for parsed in _guards(each)]
    wiring = Wiring.of_this_installation()
    other = next((" ".join(guard) for guard in guards if guard != (wiring.python, wiring.guard)), None)
    if other is not None:
        yield Finding("memory", "problem", f"the guard does not run this siftd: {other}", _GUARD_AGAIN)
    elif _is_own_memory_off(where, settings):
        yield Finding("memory", "ok", "Claude Code's own memory is off; siftd's is the only one")
    elif guards:
        message = "Claude Code's own memory is on, and the guard is wired: what its agent would write there is refused"
        yield Finding("memory", "ok", f"{message}, and sent to `remember`")
    else:
        message = "Claude Code's own memory is on: its MEMORY.md and siftd live side by side, neither reads the other"
        yield Finding("memory", "note", message, f'{_GUARD_AGAIN}, or set "autoMemoryEnabled": false in its settings')


def _is_own_memory_off(where: Where, settings: Sequence[dict[str, Any]]) -> bool:
    if where.environ.get("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "").lower() in _YES:
        return True
    said = [each["autoMemoryEnabled"] for each in settings if isinstance(each.get("autoMemoryEnabled"), bool)]
    return said[-1:] == [False]  # the nearest to the project counts


def _guards(settings: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield interpreter and script of each guard in a settings file."""
    hooks = settings.get("hooks")
    groups = hooks.get(EVENT) if isinstance(hooks, dict) else None
    for group in groups if isinstance(groups, list) else ():
        handlers = group.get("hooks") if isinstance(group, dict) else None
        for handler in handlers if isinstance(handlers, list) else ():
            command = handler.get("command") if isinstance(handler, dict) else None
            if isinstance(command, str) and (parsed := parse_command(command, SCRIPTS)):
                yield parsed


def _settings_files(where: Where) -> list[tuple[str, bool]]:
    """Return each file, and whether it is the person's own: a project may be a clone."""
    project, user = f"{where.workspace_root}/.claude", claude_folder(where.environ, where.user_home)
    named = f"{project}/settings.json", f"{project}/settings.local.json"
    return [(f"{user}/settings.json", True), *((path, path.startswith(f"{user}/")) for path in named)]


def _servers(where: Where) -> Iterator[str]:
    """Yield the files that register a server of ours: the user's, the project's entry in it, the project's own."""
    user = servers_file(where.environ, where.user_home)
    document = _read(user, follow=True)
    projects = document.get(PROJECTS)
    mine = projects.get(where.workspace_root) if isinstance(projects, dict) else None
    shared = f"{where.workspace_root}/.mcp.json"
    for path, holder in ((user, document), (user, mine), (shared, _read(shared, follow=False))):
        servers = holder.get(HOLDER) if isinstance(holder, dict) else None
        if isinstance(servers, dict) and any(map(is_our_server, servers.values())):
            yield path


def _has_plugin(settings: dict[str, Any]) -> bool:
    plugins = settings.get("enabledPlugins")
    return isinstance(plugins, dict) and any(
        name.partition("@")[0] == PLUGIN_NAME and is_on for name, is_on in plugins.items()
    )


def _read(path: str, *, follow: bool) -> dict[str, Any]:
    """Return what a file holds; nothing for one that is not there or does not parse (`check_hooks` tells that)."""
    try:
        document = json.loads(read(path, SETTINGS_BYTES_MAX, follow=follow))
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
