"""The figures of `mem stats` as text bars: a table of days, then each chart, side by side where there is room.

A line is a list of pieces, each a text and its style, so that its width is known before it is painted.
"""

from __future__ import annotations

from datetime import date, timedelta
from itertools import zip_longest

from siftd.cli.columns import bar, columns, cut, padded, parted_bar, width_of
from siftd.cli.output import clean, count, format_bytes, format_day, one_line, paint, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from siftd.wire.requests import DayStatistics, StatsAnswer

    Line = list[tuple[str, str]]

WIDE = 150
"""Columns from which on parts stand side by side, and each figure of a day has its bar."""
COLUMNS_MAX = 200
DAYS_SHOWN = 45
"""Of more days than this each week is a line."""
_GAP = "   "
_NAME = 14
_FIGURE = 8
_NONE = "·"


def say_statistics(found: StatsAnswer) -> None:
    """Print them, as wide as the terminal is."""
    width = min(columns(), COLUMNS_MAX)
    parts = [_replaced, _tools, _drain, _storage]
    if found["spent"]:
        parts.append(_spent)
    lines = [*_days(found, width), [], *_given(found, width), *_offenders(found, width), []]
    if width < WIDE:
        for part in parts:
            lines += [*part(found, width), []]
    else:
        half = (width - len(_GAP)) // 2
        drawn = [part(found, half) for part in parts]
        for left, right in zip_longest(drawn[::2], drawn[1::2]):
            lines += [*_side_by_side(left, right or [], half), []]
    for line in lines[:-1]:
        say("".join(paint(text, style) if style else text for text, style in line).rstrip())


def _days(found: StatsAnswer, width: int) -> list[Line]:
    by_day = found["days"]
    captured = sum(each["events"] for each in by_day)
    span = f"{format_day(found['since'])} to {format_day(found['until'])}"
    before_these = f"; {found['eventsBefore']:,} before" if found["eventsBefore"] else ""
    title = _title("captured", f"{count(captured, 'event')}, {span}{before_these}", width)
    is_weekly = len(by_day) > DAYS_SHOWN
    rows = _by_week(by_day) if is_weekly else by_day
    names = ["sessions", "replaced", "given", "touched"][is_weekly:]
    most = {name: max(row[name] for row in rows) for name in ("events", *names)}  # type: ignore[literal-required]
    most["touched"] = most["given"]
    has_bars = width >= WIDE
    room = width - _NAME - 2 - _FIGURE - 2 - len(names) * (_FIGURE + 2)
    each_room = (room - 3 * len(names)) // (len(names) + 2) if has_bars else 0
    first_room = room - len(names) * (each_room + 3) if has_bars else room
    head = f"{'week of' if is_weekly else '':<{_NAME}}  {'events':>{_FIGURE}}  {'':<{first_room}}" + "".join(
        f"{name:>{_FIGURE + 2}}" + (f" {'':<{each_room}}  " if has_bars else "") for name in names
    )
    lines: list[Line] = [title, [(head, "dim")]]
    before: date | None = None
    for row in rows:
        day = date.fromisoformat(row["day"])
        if before is not None and not is_weekly and (gap := (day - before).days - 1):
            lines.append([(f"{'':<{_NAME}}  {'⋮':>{_FIGURE}}  {count(gap, 'day')} without", "dim")])
        before = day
        drawn = padded(bar(row["events"], most["events"], first_room), first_room)
        line: Line = [(f"{day:%Y-%m-%d %a}", "dim"), (f"  {_figure(row['events'])}  ", ""), (drawn, "cyan")]
        for name in names:
            value: int = row[name]  # type: ignore[literal-required]
            line.append((f"  {_figure(value)}", "" if value else "dim"))
            if has_bars:
                drawn = padded(bar(value, most[name], each_room), each_room)
                line += [(" ", ""), (drawn, "green" if name == "touched" else "cyan"), ("  ", "")]
        lines.append(line)
    return lines


def _by_week(days: Sequence[DayStatistics]) -> list[DayStatistics]:
    """Return days added up by week. Sessions are not: one may have gone on for days."""
    weeks: dict[str, DayStatistics] = {}
    for each in days:
        day = date.fromisoformat(each["day"])
        monday = (day - timedelta(days=day.weekday())).isoformat()
        week = weeks.get(monday)
        if week is None:
            weeks[monday] = {**each, "day": monday}
            continue
        for name in ("events", "raw", "skipped", "replaced", "given", "touched"):
            week[name] += each[name]
    return list(weeks.values())


def _given(found: StatsAnswer, width: int) -> list[Line]:
    given = found["injections"]
    if not given["pieces"]:
        return [_title("given", "nothing yet: it begins with an agent's second session", width)]
    where = f"{count(given['pieces'], 'piece')} in {count(given['sessions'], 'session')}"
    lines = [_title("given", f"{where}, {given['touched']:,} then touched; by week", width)]
    most = max(each["pieces"] for each in found["weeks"])
    room = width - _NAME - 2 - _FIGURE - 2 - 14
    for each in found["weeks"]:
        touched, rest = parted_bar(each["touched"], each["pieces"], most, room)
        behind = f"  {each['touched']:,} touched" if each["touched"] else "  none touched"
        lines.append([
            (padded(each["week"], _NAME), "dim"), (f"  {each['pieces']:>{_FIGURE},}  ", ""),
            (touched, "green"), (rest, "dim"), (behind, "dim"),
        ])  # fmt: skip
    return lines


def _offenders(found: StatsAnswer, width: int) -> list[Line]:
    offenders = found["offenders"]
    if not offenders:
        return []
    lines: list[Line] = [[], _title("of little use", "given again and again, and touched seldom or never", width)]
    for each in offenders:
        of = f"{each['touched']:,} of {each['given']:,} touched"
        head = f"{clean(each['piece']):<6}{of:>20}  "
        text = one_line(each["text"], used=-10_000) if each["text"] else "it is gone"
        lines.append([(head, "cyan"), (cut(text, width - width_of(head)), "")])
    fact = next((each["piece"] for each in offenders if each["memoryId"] and each["text"]), None)
    remedy = f"→ `mem why {clean(offenders[0]['piece'])}` says why it was given"
    if fact is not None:
        remedy += f"; `mem verify {clean(fact)} --outdated` ends that"
    lines.append([(cut(remedy, width), "bold")])
    return lines


def _replaced(found: StatsAnswer, width: int) -> list[Line]:
    rules = found["replaced"]
    total = sum(each["replaced"] for each in rules)
    title = _title("replaced", f"{count(total, 'secret')} in what is stored" if total else "no secret came by", width)
    return [title, *_bars(((each["rule"], each["replaced"]) for each in rules), width)]


def _tools(found: StatsAnswer, width: int) -> list[Line]:
    rows = ((each["tool"], each["events"]) for each in found["tools"])
    return [_title("events", "of which tools", width), *_bars(rows, width)]


def _drain(found: StatsAnswer, width: int) -> list[Line]:
    drain = found["drain"]
    whole = drain["raw"] + drain["summarized"] + drain["skipped"]
    share = f"{drain['summarized'] * 100 // whole} % summarised" if whole else "nothing to summarise"
    rows = ((name, drain[key]) for name, key in (("summarised", "summarized"), ("raw", "raw"), ("skipped", "skipped")))  # type: ignore[literal-required]
    return [_title("drain", share, width), *_bars(rows, width, most=whole)]


def _storage(found: StatsAnswer, width: int) -> list[Line]:
    stored = sorted((each for each in found["storage"] if each["bytes"]), key=lambda each: -each["bytes"])
    title = _title("storage", format_bytes(sum(each["bytes"] for each in stored)), width)
    room = width - _NAME - 2 - _FIGURE - 2
    most = max((each["bytes"] for each in stored), default=0)
    return [
        title,
        *(
            [
                (f"{clean(each['kind']):<{_NAME}}", ""),
                (f"  {format_bytes(each['bytes']):>{_FIGURE}}  ", ""),
                (bar(each["bytes"], most, room), "cyan"),
            ]
            for each in stored
        ),
    ]


def _spent(found: StatsAnswer, width: int) -> list[Line]:
    spent = found["spent"]
    remote = sum(each["tokens"] for each in spent if each["isRemote"])
    left = f"{remote:,} tokens left this machine" if remote else "no token left this machine"
    rows = ((each["backend"], each["tokens"]) for each in spent)
    return [_title("models", left, width), *_bars(rows, width)]


def _figure(number: int) -> str:
    return f"{number:>{_FIGURE},}" if number else f"{_NONE:>{_FIGURE}}"


def _title(name: str, text: str, width: int) -> Line:
    return [(f"{name:<{_NAME}}", "bold"), (cut(f"  {text}", width - _NAME), "dim")]


def _bars(rows: Iterable[tuple[str, int]], width: int, most: int | None = None) -> list[Line]:
    """Return a line for each name and number; names of a client or a person are cleaned and cut."""
    shown = [(one_line(name, used=-10_000), number) for name, number in rows]
    most = most or max((number for _, number in shown), default=0)
    name_room = min(max((width_of(name) for name, _ in shown), default=0), width // 3)
    name_room = max(name_room, _NAME)
    room = width - name_room - 2 - _FIGURE - 2
    return [
        [(padded(name, name_room), ""), (f"  {_figure(number)}  ", ""), (bar(number, most, room), "cyan")]
        for name, number in shown
    ]


def _side_by_side(left: list[Line], right: list[Line], half: int) -> list[Line]:
    """Return two parts side by side."""
    lines: list[Line] = []
    for one, other in zip_longest(left, right, fillvalue=None):
        used = sum(width_of(text) for text, _ in one or [])
        lines.append([*(one or []), (" " * (half - used) + _GAP, ""), *(other or [])])
    return lines
