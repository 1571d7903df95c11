"""`siftd team health`: whether the server of this machine answers; for a container's health check and for scripts."""

from __future__ import annotations

import argparse
import http.client
import json
import ssl
from contextlib import closing

from siftd.errors import SiftdError
from siftd.team_server.settings import PORT

ANSWER_SECONDS = 3.0
ANSWER_BYTES_MAX = 4096


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument("--port", type=int, default=PORT, help=f"where it listens on 127.0.0.1 (default: {PORT})")


def run(arguments: argparse.Namespace) -> int:
    """Print what `/health` says. Status 1 where nothing answers; PostgreSQL away is said, and is no failure of ours."""
    # A certificate is of another name than 127.0.0.1; no secret is sent, and what comes back is one word.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    for connection in (
        http.client.HTTPSConnection("127.0.0.1", arguments.port, timeout=ANSWER_SECONDS, context=context),
        http.client.HTTPConnection("127.0.0.1", arguments.port, timeout=ANSWER_SECONDS),
    ):
        with closing(connection):
            try:
                connection.request("GET", "/health")
                answer = json.loads(connection.getresponse().read(ANSWER_BYTES_MAX))
            except (OSError, ValueError, http.client.HTTPException):
                continue
            print(json.dumps(answer))
            return 0 if isinstance(answer, dict) and answer.get("ok") is True else 1
    raise SiftdError("no server answers", hint=f"siftd team serve --port {arguments.port}")
