"""What `mem doctor` says of the agent's side: the tools' registration, and Claude Code's own memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from siftd.clients.claude_code.doctor import PLUGIN_NAME
from siftd.clients.claude_code.servers_edit import HOLDER, PROJECTS, is_our_server
from siftd.clients.claude_code.settings import claude_folder, servers_file
from siftd.clients.client import Where
from siftd.finding import Finding
from siftd.foreign_file import SETTINGS_BYTES_MAX, read


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
    is_off = where.environ.get("CLAUDE_CODE_DISABLE_AUTO_MEMORY") == "1" or any(
        each.get("autoMemoryEnabled") is False for each in settings
    )
    if is_off:
        yield Finding("memory", "ok", "Claude Code's own memory is off; siftd's is the only one")
    else:
        message = "Claude Code's own memory is on: its MEMORY.md and siftd live side by side, neither reads the other"
        yield Finding("memory", "ok", message)


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
