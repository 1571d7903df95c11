"""Numbers on the command line."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError


def positive(text: str) -> int:
    """Return a whole number from 1; anything else is misuse."""
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise ArgumentTypeError("it must be an integer from 1 on")
    return int(text)


def add_cursor(parser: ArgumentParser) -> None:
    """Let a list go on behind the one that was shown before."""
    parser.add_argument("--cursor", metavar="C", help="go on behind another list: `nextCursor` of its --json")
