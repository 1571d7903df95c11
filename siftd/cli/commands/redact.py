"""`mem redact`: show what would be replaced in a file, and why. Needs no daemon, and stores nothing."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from siftd.cli.context import Context
from siftd.cli.output import count, note, one_line, paint, say, say_json
from siftd.errors import RequestInvalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.redact import Redactor

BYTES_MAX = 16 * 1024 * 1024
"""As much as a payload may have."""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a file, or - for standard input")


def run(context: Context, options: Namespace) -> int:
    from siftd.redact.explain import explain

    text = _read(options.file)
    redactor, problem = _redactor_of(context)
    findings = explain(redactor, text, jsx=options.file.endswith((".jsx", ".tsx")))
    if options.json:
        say_json({"file": options.file, "findings": [each._asdict() for each in findings], "problem": problem})
        return 0
    for each in findings:
        place = f"{each.line}:{each.column}"
        say(f"{place:<10}  {paint(f'{each.rule:<20}', 'yellow')}  {one_line(each.excerpt, used=34)}")
    note(f"mem: {count(len(findings), 'secret')} would be replaced")
    if problem:
        note(f"mem: {problem}")
    return 0


def _read(path: str) -> str:
    from siftd.foreign_file import open_regular

    try:
        with sys.stdin.buffer if path == "-" else open_regular(path, follow=True) as file:
            data = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise RequestInvalid(f"{path} cannot be read ({error.strerror})", hint="name a file that is there") from error
    if len(data) > BYTES_MAX:
        raise RequestInvalid("there are more than 16 MiB", hint="give a part of it")
    return data.decode("utf-8", "replace")


def _redactor_of(context: Context) -> tuple[Redactor, str | None]:
    """Return the redactor of this workspace, as the daemon has it, and what is wrong with the configuration."""
    from pathlib import Path

    from siftd.capture.intake import make_redactor
    from siftd.redact.env_files import EnvValues
    from siftd.workspace.home import load_settings

    loaded = load_settings(context.home)
    try:
        secret = Path(context.paths.secret).read_bytes()[:32]
    except OSError:
        secret = bytes(32)  # of the placeholders' digits nothing is shown
    return make_redactor(secret, loaded.settings, EnvValues(context.workspace.root)), loaded.problem
