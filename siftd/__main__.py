"""`siftd`: the daemon's own command. People use `mem`.

siftd run [--folder DIR] [--detached] [--set KEY=VALUE]...
siftd spool --folder DIR            (frames on standard input; for the courier)
siftd mcp [--tools full] [--print-config]
"""

from __future__ import annotations

import argparse
import os
import sys


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
    mcp = commands.add_parser("mcp", help="serve the memory as tools to an agent (MCP, standard input and output)")
    mcp.add_argument("--tools", choices=["default", "full"], default="default", help="how many (default: five)")
    mcp.add_argument("--print-config", action="store_true", help="print the entry for a client's configuration")
    chosen = parser.parse_args(arguments)
    if chosen.version:
        import siftd

        print(f"siftd {siftd.__version__}")
        return 0
    if chosen.command == "run":
        from siftd.daemon.main import run as run_daemon
        from siftd.workspace import start_folder

        folder = chosen.folder or start_folder(os.environ, os.getcwd())  # noqa: PTH109 - a text is wanted
        return run_daemon(folder, is_detached=chosen.detached, flags=chosen.set)
    if chosen.command == "spool":
        from siftd.spool import run as run_spool

        return run_spool(chosen.folder, sys.stdin.buffer)
    if chosen.command == "mcp":
        if chosen.print_config:
            from siftd.mcp.config import print_config

            return print_config(chosen.tools)
        from siftd.mcp.serve import run as run_mcp

        return run_mcp(chosen.tools)
    parser.print_help(sys.stderr)
    return 2


if __name__ == "__main__":
    ended_with = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(ended_with)  # all is closed: tearing the interpreter down would keep a stopped daemon for 0.2 s more
