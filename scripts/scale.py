"""A team's store at 1,000 projects of 100,000 items, reckoned from what one project measured (docs/scale.md).

    .venv/bin/python scripts/scale.py measure 20000     fill a project on a real PostgreSQL, into scripts/scale.json
    .venv/bin/python scripts/scale.py                   print the tables that docs/scale.md shows

What is measured is in the file, with where and when. What is assumed is in `Assumed`: how people work, and list prices
of no particular seller. Everything else is multiplication, which is all that can honestly be said of machines that
were not there.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).with_name("scale.json")


@dataclass(frozen=True)
class Assumed:
    """How large, how busy, and what a machine costs."""

    projects: int = 1_000
    items: int = 100_000
    people: int = 10
    """Of a project."""
    searches_a_day: int = 20
    """Of a person, by the server: recall and `mem search` read the laptop's replica and cost the server nothing."""
    changes_a_day: int = 50
    """Items of a person."""
    followers: int = 2
    """Devices of a person that pull each change."""
    hours_a_day: int = 8
    peak: float = 4.0
    """The busiest minute against the working day's mean."""
    busy: float = 0.5
    """Of a core, what is planned for."""
    hot: float = 0.1
    """Of the store, what is read in a day: beside all indexes of words and vectors, it should be in memory."""
    copies: int = 3
    """Primary, one replica, backups: of the store's bytes."""
    wal_days: int = 7
    core_month: float = 25.0
    gigabyte_of_memory_month: float = 3.0
    gigabyte_of_disk_month: float = 0.10


@dataclass(frozen=True)
class Layout:
    """How many primaries share the projects."""

    name: str
    primaries: int


LAYOUTS = (Layout("one PostgreSQL", 1), Layout("4 shards", 4), Layout("16 shards", 16))
GIGA = 1e9


def tables(figures: dict[str, Any], assumed: Assumed | None = None) -> str:
    """Return the page's tables."""
    known = assumed or Assumed()
    measured = f"Measured on {figures['on']} with {figures['items']:,} items: {figures['machine']}."
    return "\n".join([measured, "", _storage(figures, known), "", _work(figures, known), "", _layouts(figures, known)])


def _storage(figures: dict[str, Any], known: Assumed) -> str:
    each = figures["bytes_an_item"]
    rows = [
        ("text, metadata, vector", each["table"]),
        ("indexes by key, by place in the feed, by source", each["key_indexes"]),
        ("index of words", each["words_index"]),
        ("table of how rare words are", each["terms"]),
        ("index of vectors (HNSW, m 32), once it is wanted", each["vector_index"]),
        ("WAL of taking it once", each["wal"]),
        ("on the wire, going down once", each["wire"]),
        ("in each laptop's replica", each["replica"]),
    ]
    lines = [
        f"| bytes | an item | a project of {known.items:,} | {known.projects:,} projects |",
        "|---|---|---|---|",
    ]
    for name, size in rows:
        all_of_it = "its own projects alone" if "laptop" in name else _size(size * known.items * known.projects)
        lines.append(f"| {name} | {size:,.0f} | {_size(size * known.items)} | {all_of_it} |")
    return "\n".join(lines)


def _work(figures: dict[str, Any], known: Assumed) -> str:
    people = known.projects * known.people
    searches = people * known.searches_a_day / (known.hours_a_day * 3600) * known.peak
    changes = people * known.changes_a_day / (known.hours_a_day * 3600) * known.peak
    pages = changes * known.followers * known.people
    exact, indexed = _search_ms(figures, known)
    lines = ["| work at the busiest minute | one | a second | cores, half idle |", "|---|---|---|---|"]
    for name, ms, rate in (
        ("search, vectors exact", exact, searches),
        ("search, vectors by HNSW", indexed, searches),
        ("item taken, pushed in ones", figures["push_ms"]["of_1"], changes),
        ("item handed to a follower", figures["pull_ms_an_item"], pages),
    ):
        lines.append(f"| {name} | {_ms(ms)} | {rate:,.0f} | {max(0.1, rate * ms / 1000 / known.busy):,.1f} |")
    load = known.items * known.projects * figures["push_ms"]["item_of_500"] / 1000 / 3600
    lines.append(f"| all items once, pushed in 500s | {_ms(figures['push_ms']['item_of_500'])} | as fast as it goes |"
                 f" {load:,.0f} hours of one core |")  # fmt: skip
    return "\n".join(lines)


def _search_ms(figures: dict[str, Any], known: Assumed) -> tuple[float, float]:
    """Return what a hybrid search works in a project of the assumed size, with vectors compared exactly and by index.

    Comparing grows with the project; words do not, as the rarest of a question are looked up until there are enough
    rows; an index grows with the logarithm.
    """
    ms = figures["search_ms"]
    by_index = ms["indexed"] * math.log(known.items) / math.log(figures["indexed"])
    return ms["words"] + ms["exact"] * known.items / figures["items"], ms["words"] + by_index


def _layouts(figures: dict[str, Any], known: Assumed) -> str:
    lines = [
        "| | disk, each | memory, each | cores, each | projects in a partition | a month, all of them |",
        "|---|---|---|---|---|---|",
    ]
    each = figures["bytes_an_item"]
    people = known.projects * known.people
    rate = 1 / (known.hours_a_day * 3600) * known.peak
    searches, changes = people * known.searches_a_day * rate, people * known.changes_a_day * rate
    work = searches * _search_ms(figures, known)[0] + changes * figures["push_ms"]["of_1"]
    work += changes * known.followers * known.people * figures["pull_ms_an_item"]
    store = sum(each[name] for name in ("table", "key_indexes", "words_index", "terms")) * known.items * known.projects
    daily = changes / known.peak * known.hours_a_day * 3600 * each["wal"]
    for layout in LAYOUTS:
        disk = (store * known.copies + daily * known.wal_days) / layout.primaries / GIGA
        memory = (each["words_index"] * known.items * known.projects + store * known.hot) / layout.primaries / GIGA
        memory = _power_of_two(memory / 0.75)
        cores = max(2, _power_of_two(work / 1000 / known.busy / layout.primaries))
        cost = layout.primaries * (
            2 * (cores * known.core_month + memory * known.gigabyte_of_memory_month)
            + disk * known.gigabyte_of_disk_month
        )
        shared = known.projects / layout.primaries / 16
        lines.append(
            f"| {layout.name} | {_size(disk * GIGA)} | {memory:,} GB | {cores:,} | {shared:,.0f} | {cost:,.0f} |"
        )
    return "\n".join(lines)


def _power_of_two(wanted: float) -> int:
    return 1 << max(0, math.ceil(math.log2(max(wanted, 1e-9))))


def _size(count: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= size:
            return f"{count / size:,.1f} {unit}" if count / size < 10 else f"{count / size:,.0f} {unit}"
    return f"{count:,.0f} B"


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:,.0f} ms" if milliseconds >= 10 else f"{milliseconds:.2g} ms"


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["measure"] and len(arguments) == 2 and arguments[1].isdigit():
        from scale_measure import measure

        FIGURES.write_text(json.dumps(measure(int(arguments[1])), indent=2) + "\n")
        return 0
    if arguments:
        print(__doc__)
        return 2
    print(tables(json.loads(FIGURES.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
