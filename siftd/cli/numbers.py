"""Numbers on the command line."""

from __future__ import annotations

from argparse import ArgumentTypeError


def positive(text: str) -> int:
    """Return a whole number from 1; anything else is misuse."""
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise ArgumentTypeError("it must be an integer from 1 on")
    return int(text)
