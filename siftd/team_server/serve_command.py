"""`siftd team serve`."""

from __future__ import annotations

import argparse
import json
import os
import sys

from siftd.team_server import dsn
from siftd.team_server.settings import PORT, Serving, check, read_secret


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    dsn.add_arguments(parser)
    parser.add_argument("--replica-dsn-file", metavar="FILE", help="a streaming replica, which is read where it can be")
    parser.add_argument("--listen-dsn-file", metavar="FILE", help="past a pooler, for LISTEN (default: as --dsn-file)")
    parser.add_argument("--address", default="127.0.0.1", help="where to listen (default: this machine alone)")
    parser.add_argument("--port", type=int, default=PORT, help=f"0 takes a free one (default: {PORT})")
    parser.add_argument("--host", action="append", default=[], metavar="NAME", help="a name by which laptops call it")
    parser.add_argument("--certificate", metavar="FILE", help="of that name, with its chain (PEM)")
    parser.add_argument("--key", metavar="FILE", help="of the certificate (PEM)")
    parser.add_argument("--trusted-proxy", action="append", default=[], metavar="ADDRESS", help="that has them instead")
    parser.add_argument(
        "--embedder", action="append", default=[], metavar="NAME",
        help="a model that projects may name besides blend-384 and hash-384: ollama:…, openai:…, fastembed:…",
    )  # fmt: skip
    parser.add_argument("--embedder-url", default="", metavar="URL", help="of Ollama or an OpenAI-compatible proxy")
    parser.add_argument("--embedder-key-file", metavar="FILE", help="the key that it wants")
    parser.add_argument("--webhooks-file", metavar="FILE", help="which projects take webhooks, and by which secrets")


def run(arguments: argparse.Namespace) -> int:
    """Serve until told to end."""
    from siftd.team_server.process import serve

    def file(path: str | None) -> str | None:
        return None if path is None else read_secret(path)

    serving = check(
        Serving(
            dsn=dsn.find_dsn(arguments),
            address=arguments.address,
            port=arguments.port,
            names=tuple(arguments.host),
            replica_dsn=file(arguments.replica_dsn_file),
            listen_dsn=file(arguments.listen_dsn_file),
            certificate=arguments.certificate,
            key=arguments.key,
            trusted_proxies=frozenset(arguments.trusted_proxy),
            embedders=tuple(arguments.embedder),
            embedder_url=arguments.embedder_url,
            embedder_key=file(arguments.embedder_key_file) or "",
            webhooks=file(arguments.webhooks_file),
        )
    )

    def say_ready(port: int) -> None:
        sys.stdout.write(json.dumps({"port": port, "pid": os.getpid()}) + "\n")
        sys.stdout.flush()

    serve(serving, say_ready)
    return 0
