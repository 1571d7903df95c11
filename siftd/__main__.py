# siftd-memory c1898e8df9a0f4c43493b3bd11c94a14
"""`siftd`: the daemon's own command. People use `mem`.

The first line of this file and of `__init__.py` is our mark: hooks and the plugin look for it in both before they run
this file, by its path. Another project owns the name `siftd` on the package index; no module is ours for its name.

siftd run [--folder DIR] [--detached] [--set KEY=VALUE]...
siftd spool --folder DIR            (frames on standard input; for the courier)
siftd answer                        (a hook's envelope on standard input; for the plugin's /siftd:mem)
siftd admit                         (an order and a message on standard input; for the daemon)
siftd mcp [--tools full] [--print-config]
siftd web [--port N]                (what `mem web` starts; in the foreground)
siftd notes …                       (as `mem notes`; for timers and the daemon)
siftd team …                        (a team's server and its database; for an operator)
siftd doctor --folder DIR           (as `mem doctor --json`; for the page)
"""

from __future__ import annotations

import argparse
import os
import sys

if not __package__:
    # Run by its path, as hooks and clients run it: the package is the one that this file is of, whatever other has its
    # name in this environment.
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
    import siftd  # noqa: F401 - from that folder, once and for all

    del sys.path[0]


def main(arguments: list[str] | None = None) -> int:
    """Run one of siftd's processes and return its exit status."""
    parser = argparse.ArgumentParser(prog="siftd", description="The daemon of siftd. People use `mem`.")
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(dest="command")
    run = commands.add_parser("run", help="serve one workspace until stopped")
    run.add_argument("--folder", help="a folder of the workspace (default: where you are)")
    run.add_argument("--detached", action="store_true", help="let go of the terminal once ready")
    run.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="set a configuration key")
    spool = commands.add_parser("spool", help="redact the frames on standard input into the spool")
    spool.add_argument("--folder", required=True, help="a folder of the workspace")
    commands.add_parser("answer", help="answer what was typed behind /siftd:mem (a hook's envelope on standard input)")
    commands.add_parser("admit", help="read one large message for the daemon (standard input and output)")
    mcp = commands.add_parser("mcp", help="serve the memory as tools to an agent (MCP, standard input and output)")
    mcp.add_argument("--tools", choices=["default", "full"], default="default", help="how many (default: five)")
    mcp.add_argument("--print-config", action="store_true", help="print the entry for a client's configuration")
    web = commands.add_parser("web", help="serve the page and the HTTP API of this home until nobody looks any more")
    web.add_argument("--port", type=int, default=0, help="of the loopback (default: a free one)")
    web.add_argument("--detached", action="store_true", help="let go of standard output once it listens")
    notes = commands.add_parser("notes", help="what `mem notes` does, for timers", add_help=False)
    notes.add_argument("arguments", nargs=argparse.REMAINDER)
    team = commands.add_parser("team", help="a team's memory on PostgreSQL, for its operator", add_help=False)
    team.add_argument("arguments", nargs=argparse.REMAINDER)
    doctor = commands.add_parser("doctor", help="print what `mem doctor --json` does (for the page)")
    doctor.add_argument("--folder", required=True, help="a folder of the workspace")
    chosen = parser.parse_args(arguments)
    if chosen.version:
        import siftd

        print(f"siftd {siftd.__version__}")
        return 0
    if chosen.command == "run":
        from siftd.daemon.main import run as run_daemon
        from siftd.workspace.identity import start_folder

        folder = chosen.folder or start_folder(os.environ, os.getcwd())  # noqa: PTH109 - a text is wanted
        return run_daemon(folder, is_detached=chosen.detached, flags=chosen.set)
    if chosen.command == "spool":
        from siftd.log.spool import run as run_spool

        return run_spool(chosen.folder, sys.stdin.buffer)
    if chosen.command == "answer":
        from siftd.cli.answer import run as run_answer

        return run_answer(sys.stdin.buffer)
    if chosen.command == "admit":
        from siftd.capture.admit_process import run as run_admit

        return run_admit(sys.stdin.buffer, sys.stdout.buffer)
    if chosen.command == "mcp":
        if chosen.print_config:
            from siftd.mcp.config import print_config

            return print_config(chosen.tools)
        from siftd.mcp.serve import run as run_mcp

        return run_mcp(chosen.tools)
    if chosen.command == "web":
        from siftd.web.main import run as run_web

        return run_web(chosen.port, is_detached=chosen.detached)
    if chosen.command == "notes":
        from siftd.cli.background import run as run_notes

        return run_notes(chosen.arguments)
    if chosen.command == "team":
        from siftd.team_server.command import run as run_team

        return run_team(chosen.arguments)
    if chosen.command == "doctor":
        from siftd.cli import run as run_mem

        return run_mem(["doctor", "--json", "--workspace", chosen.folder])
    parser.print_help(sys.stderr)
    return 2


if __name__ == "__main__":
    ended_with = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(ended_with)  # all is closed: tearing the interpreter down would keep a stopped daemon for 0.2 s more
