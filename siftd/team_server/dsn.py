"""Where the database is: from a file or the environment, never from the arguments, which everybody can see."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from siftd.errors import ConfigInvalid

VARIABLE = "SIFTD_TEAM_DSN"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--dsn-file`."""
    parser.add_argument(
        "--dsn-file", metavar="FILE", help=f"how to reach PostgreSQL, as libpq reads it (default: ${VARIABLE})"
    )


def find_dsn(arguments: argparse.Namespace) -> str:
    """Return the DSN. Raises ConfigInvalid."""
    if arguments.dsn_file:
        try:
            found = Path(arguments.dsn_file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigInvalid(f"{arguments.dsn_file} cannot be read ({type(error).__name__})") from error
    else:
        found = os.environ.get(VARIABLE, "").strip()
    if not found:
        raise ConfigInvalid(
            "it is not said where PostgreSQL is",
            hint=f"set {VARIABLE}, or give --dsn-file a file that holds: host=… dbname=… user=…",
        )
    return found
