"""What `mem top` shows, as lines of a width: figures above, below them two lists, side by side where they fit."""

from __future__ import annotations

import time
from itertools import zip_longest

from rich.text import Text

from siftd.cli.columns import draws_blocks, parted_bar
from siftd.cli.live.glance import Glance
from siftd.cli.output import count, format_bytes, format_duration, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from siftd.wire.requests import EventLine, Injection

WIDE = 140
"""Columns from which on captures and what was given stand side by side."""
_GAP = 3
_NAME = 10
_TOOL = 8
_HEIGHTS = " ▁▂▃▄▅▆▇█"
_TODAY_MS = 86_400_000
CAPTURED_AT_ONCE, GIVEN_AT_ONCE = 12, 6
"""That are printed where nothing is drawn again."""
GIVEN_SHARE = 3
"""One of so many lines of the lists is for what was given, where one stands below the other."""


def lines_of(glance: Glance, columns: int, lines: int | None) -> list[Text]:
    """Return the lines, each cut to `columns`, at most `lines` of them (None: as many as there are)."""
    top = [_head(glance, columns), Text(), *_figures(glance, columns), *_findings(glance), Text()]
    foot = [Text("q quits", style="dim")] if lines is not None else []
    room = None if lines is None else max(lines - len(top) - len(foot), 0)
    shown = [*top, *_lists(glance, columns, room)]
    if lines is not None:
        shown = shown[: lines - len(foot)]
        shown += [Text()] * (lines - len(foot) - len(shown)) + foot
    for line in shown:
        line.truncate(columns, overflow="ellipsis" if draws_blocks() else "crop")
    return shown[:lines]


def _head(glance: Glance, columns: int) -> Text:
    daemon, place = glance.state["daemon"], glance.state["workspace"]
    clock = time.strftime("%H:%M:%S", time.localtime(glance.at_ms / 1000))
    parts = [clock]
    if daemon["running"]:
        size, since = format_bytes(daemon["rssBytes"] or 0), format_duration(daemon["uptimeMs"] or 0)
        parts = [f"up {since}", size, f"siftd {_plain(daemon['version'] or '')}", clock]
    right = Text("  ".join(parts), style="dim")
    left = Text(f"mem top  {_plain(place['root'])}", style="bold")
    room = columns - right.cell_len - 2
    if room < _NAME:
        return left
    left.truncate(room, overflow="ellipsis" if draws_blocks() else "crop", pad=True)
    return Text.assemble(left, "  ", right)


def _figures(glance: Glance, columns: int) -> list[Text]:
    state, activity = glance.state, glance.activity
    captures, counts = state["captures"], state["counts"]
    hour = sum(activity.by_minute)
    stored = f"{counts['events']:,} stored, {hour:,} in the last hour"
    more = [f"{captures[name]:,} {name}" for name in ("duplicates", "rejected") if captures.get(name)]
    chart = sparkline(activity.by_minute[-max(columns - _NAME - 46, 10) :])
    waiting = state["spool"]["files"]
    more += [f"{count(waiting, 'file')} in the spool"] if waiting else []
    given, sessions = activity.given_today
    today = f"{count(given, 'piece')} to {count(sessions, 'session')} today" if given else "nothing yet today"
    return [
        _figure("captures", Text.assemble(Text(f"{stored:<40}"), Text(chart, style="cyan"))),
        *([_figure("", Text(", ".join(more), style="dim"))] if more else []),
        _figure("drain", _drain(glance, columns)),
        _figure("searches", _searches(glance)),
        _figure("given", Text(today)),
    ]


def _drain(glance: Glance, columns: int) -> Text:
    counts, backend = glance.state["counts"], glance.state["backend"]
    whole, done = counts["events"], counts["summarized"] + counts["skipped"]
    doing = f"{_plain(backend['name'])} {_plain(backend['state'])}"
    if not whole:
        return Text(f"nothing to summarise, {doing}")
    solid, light = parted_bar(done, whole, whole, 16 if columns < WIDE else 40)
    raw = f"{counts['raw']:,} raw" if counts["raw"] else "nothing raw"
    parts = f"  {done * 100 // whole} % done, {raw}, {counts['skipped']:,} skipped, {doing}"
    return Text.assemble((solid, "green"), (light, "dim"), parts)


def _searches(glance: Glance) -> Text:
    searches = glance.state.get("searches")
    if searches is None:
        return Text("(needs a running daemon)", style="dim")
    if not searches["count"] or searches["lastTs"] is None:
        return Text("none since the daemon started")
    last = f"last at {_clock(searches['lastTs'], glance.at_ms)}: {count(searches['lastHits'] or 0, 'hit')}"
    return Text(f"{searches['count']:,} since the daemon started, {last} in {searches['lastMs'] or 0:.0f} ms")


def _findings(glance: Glance) -> list[Text]:
    lines = []
    for each in glance.findings:
        lines.append(_figure(each.link, Text(_plain(each.message)), "yellow" if each.state == "problem" else "dim"))
        if each.remedy:
            lines.append(_figure("", Text(f"→ {_plain(each.remedy)}", style="bold")))
    return lines


def _lists(glance: Glance, columns: int, room: int | None) -> list[Text]:
    activity = glance.activity
    captured = [_captured(each, glance.at_ms) for each in activity.events[::-1]]
    given = [_given(each, glance.at_ms) for each in activity.given]
    nothing = "nothing yet: `mem install` wires your agents, `mem doctor` checks"
    captured = captured or [Text(nothing, style="dim")]
    given = given or [Text("nothing yet: it begins with an agent's second session", style="dim")]
    captured.insert(0, Text("captured", style="bold"))
    given.insert(0, Text("given", style="bold"))
    if columns >= WIDE:
        half = (columns - _GAP) // 2
        return [_side_by_side(left, right, half) for left, right in zip_longest(captured[:room], given[:room])]
    if room is None:
        return [*captured[: CAPTURED_AT_ONCE + 1], Text(), *given[: GIVEN_AT_ONCE + 1]]
    below = min(len(given), max(room // GIVEN_SHARE, 2))
    above = min(len(captured), room - below - 1)
    return [*captured[:above], Text(), *given[: room - above - 1]]


def _side_by_side(left: Text | None, right: Text | None, half: int) -> Text:
    line = (left or Text()).copy()
    line.truncate(half, overflow="ellipsis" if draws_blocks() else "crop", pad=True)
    return Text.assemble(line, " " * _GAP, right or Text())


def _captured(event: EventLine, now_ms: int) -> Text:
    failed = event["outcome"] == "failed"
    return Text.assemble(
        (f"{_clock(event['ts'], now_ms):>8} ", "dim"),
        (f"e{event['eventId']:<6} ", "cyan"),
        (f"{_plain(event['tool']) + (' failed' if failed else ''):<{_TOOL}}  ", "red" if failed else "bold"),
        _plain(event["text"]),
    )


def _given(piece: Injection, now_ms: int) -> Text:
    touched = piece["touchedBy"]
    return Text.assemble(
        (f"{_clock(piece['ts'], now_ms):>8} ", "dim"),
        (f"{_plain(piece['piece']):<7} ", "cyan"),
        (f"touched by e{touched}  " if touched else "", "green"),
        _plain(piece["text"] or "it is gone"),
        (f"  ({_plain(piece['hook'])})", "dim"),
    )


def sparkline(numbers: list[int]) -> str:
    """Return a column for each number, as high as it is among them; what is not nothing is seen."""
    most = max(numbers, default=0)
    if not most:
        return ""
    if not draws_blocks():
        return "".join(" " if not each else "." if each * 2 < most else "|" for each in numbers)
    return "".join(_HEIGHTS[max(round(8 * each / most), int(each > 0))] for each in numbers)


def _figure(name: str, text: Text, style: str = "bold") -> Text:
    return Text.assemble((f"{name:<{_NAME}}", style), text)


def _clock(ts: int, now_ms: int) -> str:
    """Return the time of a moment of these 24 hours, else its day. Odd moments have none."""
    try:
        return time.strftime("%H:%M:%S" if abs(now_ms - ts) < _TODAY_MS else "%b %d", time.localtime(ts / 1000))
    except (OverflowError, ValueError, OSError):
        return "-"


def _plain(text: str) -> str:
    """Return captured text as one line that a terminal only shows."""
    return one_line(text, used=-10_000)
