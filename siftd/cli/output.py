"""How `mem` prints: facts for people or as JSON, remarks, times, sizes.

Captured text may hold what a terminal would obey (escape sequences, carriage returns): everything printed for people
goes through `clean` or `one_line`. What no terminal shows goes too; and where no terminal is, an agent may read, for
whom it is made as harmless as a block (`siftd.harmless`). `--json` is for programs and tells everything as it is.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence

from siftd.harmless import harmless, unfenced, visible

_CONTROL = (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_SHOWN = dict.fromkeys(_CONTROL, "\ufffd")
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def say(text: str = "") -> None:
    """Print a fact."""
    _write(text)


def note(text: str) -> None:
    """Print a remark; it is no part of the answer."""
    print(text, file=sys.stderr)


def say_json(value: object) -> None:
    """Print an answer for programs."""
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    _write(json.dumps(value, ensure_ascii=not is_unicode, indent=2 if is_terminal() else None))


def is_terminal() -> bool:
    """Whether a person sees standard output."""
    return sys.stdout.isatty()


def paint(text: str, style: str) -> str:
    """Return `text` in a style where a person sees it and has not switched colours off."""
    if not is_terminal() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


def clean(text: str) -> str:
    """Return text that a terminal only shows, and an agent is not led by: line breaks and tabs stay, other control
    characters become U+FFFD."""
    shown = text.replace("\r\n", "\n").translate(_SHOWN)
    return visible(shown) if is_terminal() else unfenced(shown)


def one_line(text: str, used: int = 0) -> str:
    """Return `text` as one line; on a terminal it is cut to what `used` columns leave of the width."""
    line = clean(" ".join(text.split()))
    if not is_terminal():
        return harmless(line, len(line) + 1)
    columns = os.get_terminal_size(sys.stdout.fileno()).columns or 80  # some terminals do not know
    room = max(columns - used, 20)
    return line if len(line) <= room else f"{line[: room - 1]}…"


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under headers, aligned; folded to the width on a terminal."""
    cleaned = [[one_line(cell, used=-10_000) for cell in row] for row in rows]
    if is_terminal():
        _print_rich(headers, cleaned)
        return
    widths = [max(len(line[column]) for line in [headers, *cleaned]) for column in range(len(headers))]
    for line in [headers, *cleaned]:
        say("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def format_time(ts: int | None) -> str:
    """Return a moment in local time, to the minute."""
    return "-" if ts is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(ts / 1000))


def format_day(ts: int) -> str:
    """Return the local day of a moment."""
    return time.strftime("%Y-%m-%d", time.localtime(ts / 1000))


def format_duration(ms: int) -> str:
    """Return a length of time in its two largest units."""
    seconds = ms // 1000
    units = (("d", seconds // 86_400), ("h", seconds // 3600 % 24), ("min", seconds // 60 % 60), ("s", seconds % 60))
    shown = [f"{number} {unit}" for unit, number in units if number]
    return " ".join(shown[:2]) or f"{ms} ms"


def format_bytes(number: int) -> str:
    """Return a size in the unit that suits it."""
    size = float(number)
    for unit in ("B", "KB", "MB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GB"


def count(number: int, noun: str) -> str:
    """Return "1 event", "2 events"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _write(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding) + "\n")


def _print_rich(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in headers:
        table.add_column(header, overflow="fold", no_wrap=header == headers[0])
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)
