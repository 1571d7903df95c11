"""How much happened when, and what became of what agents were given: the figures that charts are drawn of."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from siftd.store import event_views, injection_ledger, muted
from siftd.store.answers import as_rows
from siftd.store.scrubbing import count_placeholders
from siftd.store.stored_kinds import OTHER, kind_of, list_tables, size_of_database, size_of_table
from siftd.wire.requests.finding import Injection
from siftd.wire.requests.living import Counts, Spend
from siftd.wire.requests.overview import (
    DayCount,
    DayStatistics,
    PieceGiven,
    RuleCount,
    StatsAnswer,
    StatsPart,
    ToolCount,
    WeekGiven,
)

DAYS_MAX = 3_660
INJECTIONS_MAX = 2_000
"""Of how many pieces given it is worked out whether the session then touched them: the newest."""
INJECTIONS_AT_ONCE = 50
EVENTS_AT_ONCE = 1_000
"""That are looked at in one piece of the work: some 10 ms. Searches wait meanwhile."""
REPLACED_AT_ONCE = 250
"""Of those with a placeholder, which are read whole."""
TOOLS_MAX = 8
OFFENDERS_MAX = 10
RULES_MAX = 50
OFTEN = 2
"""How often a piece was given before it counts as one that does not help."""

_NEWEST = "SELECT max(ts) FROM events WHERE ts <= ?"
_DAY = "SELECT count(*), count(DISTINCT session_id) FROM events WHERE ts >= ? AND ts < ?"
"""By an index alone. Dates by SQLite's `localtime` cost five times as much as all of it."""
_QUARTER_MS = 900_000
"""Every calendar's days begin with a quarter of an hour."""
_NOT_SUMMARISED = f"""
SELECT ts / {_QUARTER_MS} AS quarter, status, count(*)
FROM (SELECT ts, status FROM events WHERE status = 'raw'
      UNION ALL SELECT ts, status FROM events WHERE status = 'skipped')
WHERE +ts BETWEEN ? AND ? GROUP BY 1, 2
"""  # noqa: S608 - constants only
"""By the indexes of these two (the plus keeps that of times out); what is left is summarised."""
_TOOLS = "SELECT tool, count(*) FROM events WHERE ts >= ? AND ts < ? GROUP BY tool"
_BY_MINUTE = "SELECT (ts - ?1) / 60000, count(*) FROM events WHERE ts >= ?1 AND ts < ?2 GROUP BY 1"
_BEFORE = "SELECT count(*) FROM events WHERE ts < ?"
REPLACED = """
SELECT ts, id, payload_json FROM events
WHERE (ts, id) > (?1, ?2) AND ts <= ?3 AND instr(payload_json, '[REDACTED:') > 0 ORDER BY ts, id LIMIT ?4
"""
"""By the index of these alone, `events_replaced`, which is of the same words."""
_SPENT = """
SELECT backend, sum(tokens) AS tokens, max(is_remote) AS is_remote FROM token_spend
WHERE day >= ? AND day <= ? GROUP BY backend ORDER BY 2 DESC, 1
"""
_NO_COUNTS: Counts = {
    "events": 0, "raw": 0, "summarized": 0, "skipped": 0,
    "summaries": 0, "embeddings": 0, "superseded": 0, "memories": 0,
}  # fmt: skip


_Step = Callable[[sqlite3.Connection], bool]


class Statistics:
    """The figures of some days, read a piece at a time, so that a reading thread can do something else meanwhile."""

    def __init__(
        self,
        days: int,
        now_ms: int,
        everywhere: Callable[[], sqlite3.Connection | None] = lambda: None,
        part: StatsPart | None = None,
    ) -> None:
        """`everywhere` opens the store of the memories for every project, which some pieces are of. With a `part` the
        others stay empty, and cost nothing."""
        self._number = max(1, min(days, DAYS_MAX))
        self._now_ms = now_ms
        self._everywhere = everywhere
        self._span = first_of_days(now_ms, self._number), now_ms
        self._before = 0
        self._days_left = self._number
        self._days: dict[str, DayStatistics] = {}
        self._tools: Counter[str] = Counter()
        self._rules: Counter[tuple[str, str]] = Counter()
        self._given: list[Injection] = []
        self._muted: set[int] = set()
        self._spent: list[Spend] = []
        self._counts: Counts | None = None
        self._redactions: dict[str, int] = {}
        self._tables: list[str] | None = None
        self._stored: Counter[str] = Counter()
        self._looked_at = (0, 0)
        of_parts: dict[StatsPart, list[_Step]] = {
            "captured": [self._read_days, self._read_totals],
            "replaced": [self._read_replaced],
            "given": [self._read_given],
            "stored": [self._read_stored],
        }
        chosen = [step for name, steps in of_parts.items() if part in (None, name) for step in steps]
        self._steps: list[_Step] = [self._read_span, self._read_rest, *chosen]

    def read_on(self, connection: sqlite3.Connection) -> bool:
        """Read the next piece; return whether there is more to read."""
        if not self._steps[0](connection):
            del self._steps[0]
        return bool(self._steps)

    def read_all(self, connection: sqlite3.Connection) -> StatsAnswer:
        """Read everything, and return it."""
        while self.read_on(connection):
            pass
        return self.answer()

    def answer(self) -> StatsAnswer:
        """Return what was read so far; of what is stored, what the database holds."""
        counts = self._counts or _NO_COUNTS
        return {
            "since": self._span[0],
            "until": self._span[1],
            "eventsBefore": self._before,
            "days": [self._days[day] for day in sorted(self._days)],
            "tools": _most_used(self._tools),
            "injections": {
                "pieces": len(self._given),
                "sessions": len({each["sessionId"] for each in self._given}),
                "touched": _touched(self._given),
            },
            "weeks": by_week(self._given),
            "offenders": list_offenders(each for each in self._given if each["eventId"] not in self._muted),
            "storage": [{"kind": kind, "bytes": size} for kind, size in self._stored.most_common()],
            "redactions": self._redactions,
            "replaced": _by_rule(self._rules),
            "spent": self._spent,
            "drain": {"raw": counts["raw"], "summarized": counts["summarized"], "skipped": counts["skipped"]},
        }

    def _read_span(self, connection: sqlite3.Connection) -> bool:
        newest = connection.execute(_NEWEST, (self._now_ms,)).fetchone()[0]
        until, since = self._now_ms, first_of_days(self._now_ms, self._number)
        if newest is not None and 0 < newest < since:
            until, since = int(newest), first_of_days(int(newest), self._number)
        self._span = since, until
        self._looked_at = since - 1, 0
        return False

    def _read_days(self, connection: sqlite3.Connection) -> bool:
        """Count the next days, the latest first, until there were enough events for one piece of the work."""
        number = 0
        while self._days_left and number < EVENTS_AT_ONCE:
            self._days_left -= 1
            first = first_of_days(self._span[1], self._days_left + 1)
            until = first_of_days(self._span[1], self._days_left) if self._days_left else self._span[1] + 1
            events, sessions = connection.execute(_DAY, (first, until)).fetchone()
            if events:
                self._day(_day_of(first)).update({"events": int(events), "sessions": int(sessions)})
                self._tools.update(dict(connection.execute(_TOOLS, (first, until)).fetchall()))
            number += int(events)
        return self._days_left > 0

    def _read_totals(self, connection: sqlite3.Connection) -> bool:
        for quarter, status, number in connection.execute(_NOT_SUMMARISED, self._span):
            day = self._day(_day_of(int(quarter) * _QUARTER_MS))
            if status == "raw":
                day["raw"] += int(number)
            else:
                day["skipped"] += int(number)
        self._before = int(connection.execute(_BEFORE, self._span[:1]).fetchone()[0])
        return False

    def _read_replaced(self, connection: sqlite3.Connection) -> bool:
        """Count the placeholders in the next events, as the counters of `mem info` were counted."""
        number = 0
        asked = (*self._looked_at, self._span[1], REPLACED_AT_ONCE)
        for ts, event_id, payload in connection.execute(REPLACED, asked):
            number += 1
            day, rules = _day_of(ts), count_placeholders(payload)
            self._rules.update({(rule, day): count for rule, count in rules.items()})
            self._day(day)["replaced"] += rules.total()
            self._looked_at = ts, event_id
        return number == REPLACED_AT_ONCE

    def _read_given(self, connection: sqlite3.Connection) -> bool:
        before = self._given[-1]["id"] if self._given else None
        shared = self._everywhere()
        found = injection_ledger.list_injections(
            connection, None, None, INJECTIONS_AT_ONCE, before=before, everywhere=shared
        )
        recent = [each for each in found if self._span[0] <= each["ts"] <= self._now_ms]
        self._given += recent
        if len(recent) == INJECTIONS_AT_ONCE and len(self._given) < INJECTIONS_MAX:
            return True
        self._muted = muted.list_muted(connection)
        for day, of in _grouped(self._given, lambda each: _day_of(each["ts"])).items():
            self._day(day).update({"given": len(of), "touched": _touched(of)})
        return False

    def _read_rest(self, connection: sqlite3.Connection) -> bool:
        self._counts = event_views.counts(connection)
        self._redactions = event_views.redactions(connection)
        self._spent = as_rows(connection.execute(_SPENT, [_day_of(each) for each in self._span]), Spend)
        return False

    def _read_stored(self, connection: sqlite3.Connection) -> bool:
        """Measure the next table or index; where SQLite cannot, the database as a whole."""
        if self._tables is None:
            self._tables = list_tables(connection)
        if not self._tables:
            return False
        name = self._tables.pop()
        size = size_of_table(connection, name)
        if size is None:
            self._tables = []
            self._stored = Counter({OTHER: size_of_database(connection)})
        else:
            self._stored[kind_of(name)] += size
        return bool(self._tables)

    def _day(self, day: str) -> DayStatistics:
        made: DayStatistics = {
            "day": day, "events": 0, "sessions": 0, "raw": 0, "skipped": 0, "replaced": 0, "given": 0, "touched": 0,
        }  # fmt: skip
        return self._days.setdefault(day, made)


def count_by_minute(connection: sqlite3.Connection, since: int, minutes: int) -> list[int]:
    """Return how many events there are of each of so many minutes."""
    found = dict(connection.execute(_BY_MINUTE, (since, since + minutes * 60_000)).fetchall())
    return [found.get(minute, 0) for minute in range(minutes)]


def first_of_days(ts: int, days: int) -> int:
    """Return the moment at which so many days began of which the last one holds `ts`, by the person's own calendar."""
    first = datetime.fromtimestamp(ts / 1000).date() - timedelta(days=days - 1)  # noqa: DTZ006
    return int(datetime(first.year, first.month, first.day).timestamp() * 1000)  # noqa: DTZ001


def by_week(given: Iterable[Injection]) -> list[WeekGiven]:
    """Return what was given week by week, the oldest first."""
    weeks = _grouped(given, lambda each: _monday_of(each["ts"]))
    return [{"week": week, "pieces": len(of), "touched": _touched(of)} for week, of in weeks.items()]


def list_offenders(given: Iterable[Injection]) -> list[PieceGiven]:
    """Return the pieces that were given again and again and helped least."""
    pieces: list[PieceGiven] = [
        {
            "piece": piece,
            "memoryId": of[0]["memoryId"],
            "given": len(of),
            "touched": _touched(of),
            "lastTs": max(each["ts"] for each in of),
            "text": of[0]["text"],
        }
        for piece, of in _grouped(given, lambda each: each["piece"]).items()
    ]
    often = [each for each in pieces if each["given"] >= OFTEN and each["touched"] < each["given"]]
    return sorted(often, key=lambda each: (each["touched"] - each["given"], each["piece"]))[:OFFENDERS_MAX]


def _most_used(tools: Counter[str]) -> list[ToolCount]:
    """Return the tools used most; a name is the same in whichever letters it is written."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for tool, number in sorted(tools.items()):
        counts[names.setdefault(tool.lower(), tool)] += number
    listed = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return [{"tool": tool, "events": number} for tool, number in listed[:TOOLS_MAX]]


def _by_rule(counts: Counter[tuple[str, str]]) -> list[RuleCount]:
    """Return the rules that replaced most, and on which days."""
    totals: Counter[str] = Counter()
    days: defaultdict[str, list[DayCount]] = defaultdict(list)
    for (rule, day), number in sorted(counts.items()):
        totals[rule] += number
        days[rule].append({"day": day, "replaced": number})
    return [{"rule": rule, "replaced": number, "days": days[rule]} for rule, number in totals.most_common(RULES_MAX)]


def _grouped(given: Iterable[Injection], name_of: Callable[[Injection], str]) -> dict[str, list[Injection]]:
    """Return what was given by a name, in the order of the names."""
    groups: defaultdict[str, list[Injection]] = defaultdict(list)
    for each in given:
        groups[name_of(each)].append(each)
    return dict(sorted(groups.items()))


def _touched(given: Iterable[Injection]) -> int:
    return sum(each["touchedBy"] is not None for each in given)


def _day_of(ts: int) -> str:
    return datetime.fromtimestamp(ts / 1000).date().isoformat()  # noqa: DTZ006 - the person's own calendar


def _monday_of(ts: int) -> str:
    day = datetime.fromtimestamp(ts / 1000).date()  # noqa: DTZ006 - as above
    return (day - timedelta(days=day.weekday())).isoformat()
