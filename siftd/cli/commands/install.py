"""`mem install`: wire siftd into agents' clients. A second time changes nothing; after a move of siftd it repairs."""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from siftd.backfill.sources import count_sessions
from siftd.cli.context import Context
from siftd.cli.output import clean, count, say, say_json, tell
from siftd.clients.registry import CLIENTS
from siftd.install.change import Change
from siftd.install.installation import record
from siftd.install.launcher import write_launcher
from siftd.mcp.config import server_entry
from siftd.resources import hooks_folder


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--project", action="store_true", help="only for this workspace (.claude/settings.local.json), not for the user"
    )
    parser.add_argument("--no-tools", action="store_true", help="hooks and `/mem` only, no MCP server for the agent")
    parser.add_argument(
        "--plugin",
        action="store_true",
        help="note for the plugin where siftd is, and say by which commands Claude Code installs it",
    )


def run(context: Context, options: Namespace) -> int:
    record(context.home)
    write_launcher(context.home)
    if options.plugin:
        commands = plugin_commands()
        say_json({"commands": commands}) if options.json else say("\n".join(commands))
        return 0
    server = None if options.no_tools else server_entry("default")
    changes = [
        change
        for client in CLIENTS.values()
        if client.installer is not None
        for change in client.installer.install(context.where(), is_project=options.project, server=server)
    ]
    say_changes(changes, options.json)
    if not options.json and any(change.what != "unchanged" for change in changes):
        tell("mem: running sessions are unaffected; capture starts with the next one")
        earlier = sum(
            count_sessions(client, client.files.folder(context.environ, context.user_home), context.workspace)
            for client in CLIENTS.values()
        )
        if earlier:
            tell(f"mem: {count(earlier, 'earlier session')} of this workspace can be read in: `mem backfill`")
    return 0


def plugin_commands() -> list[str]:
    """Return the commands that install this very siftd as a plugin, hooks, tools and skill, from checkout or wheel."""
    marketplace = hooks_folder().parent
    return [f"claude plugin marketplace add {shlex.quote(str(marketplace))}", "claude plugin install siftd@siftd"]


def say_changes(changes: Sequence[Change], is_json: bool) -> None:
    """Print what was done to which file."""
    if is_json:
        say_json({"changes": [{"path": change.path, "what": change.what} for change in changes]})
    else:
        for change in changes:
            say(f"{change.what:<9}  {clean(change.path)}")
