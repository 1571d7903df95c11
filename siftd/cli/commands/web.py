"""`mem web`: open the page on which a person sees what is remembered; its process ends by itself when nobody looks."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace

from siftd.cli.context import Context
from siftd.cli.output import note, say, say_json
from siftd.errors import RequestInvalid
from siftd.web.launch import Serving, end_serving, find_serving, make_code, start_serving, write_login

_SHOWS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
"""One of which says that a browser can be opened (Linux and others; macOS always can)."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="listen there (default: a free one)")
    parser.add_argument("--no-open", action="store_true", help="open no browser: print the address and the code alone")
    parser.add_argument("--stop", action="store_true", help="end the process that serves the page")


def run(context: Context, options: Namespace) -> int:
    serving = find_serving(context.home)
    if options.stop:
        return _stop(serving)
    if serving is not None and options.port not in (0, serving.port):
        raise RequestInvalid(
            f"the page is served at {serving.address} already", hint="`mem web --stop` ends that; then choose a port"
        )
    if serving is None:
        serving = start_serving(context.home, context.environ, options.port)
    code = make_code(serving)
    is_opened = False
    if not options.no_open and _can_open():
        is_opened = _open(write_login(context.home, serving, code))
    if options.json:
        say_json({"address": serving.address, "port": serving.port, "pid": serving.pid, "code": code})
        return 0
    say(f"{serving.address}")
    say(f"code  {code}  (good once, for a minute; `mem web` makes another)")
    if not is_opened and not options.no_open:
        note("mem: no browser could be opened: open the address, and give it the code")
    return 0


def _stop(serving: Serving | None) -> int:
    if serving is None:
        note("mem: the page is not served")
        return 0
    end_serving(serving)
    say("the page is served no more")
    return 0


def _can_open() -> bool:
    return sys.platform == "darwin" or any(os.environ.get(name) for name in _SHOWS)


def _open(address: str) -> bool:
    """Open a browser that is none of the terminal's own; what it prints goes nowhere."""
    import webbrowser

    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) < 65_536):
        raise ArgumentTypeError("a port is a number up to 65535")
    return int(text)
