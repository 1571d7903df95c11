"""Figures of `eval-retrieval`: what one ranking is worth, the baselines, the table."""

from __future__ import annotations

import re
import sqlite3
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

FIGURES = ("R@1", "R@5", "R@10", "any@5", "MRR")


def figures_of(ranking: Sequence[Sequence[str]], gold: frozenset[str]) -> dict[str, float]:
    """Return what a ranking is worth: in each place the answers that one hit shows, all of them distinct."""
    right = [place for place, shown in enumerate(ranking, start=1) for each in shown if each in gold]
    recalls = {f"R@{k}": sum(place <= k for place in right) / len(gold) for k in (1, 5, 10)}
    return recalls | {"any@5": float(any(place <= 5 for place in right)), "MRR": 1 / right[0] if right else 0.0}


def table(rows: Iterable[dict[str, Any]]) -> str:
    """Return the figures of each variant by category, as a table."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    variants: dict[str, None] = {}
    for row in rows:
        variants[row["variant"]] = None
        for category in row["categories"]:
            groups[category, row["variant"]].append(row)
    lines = [
        "| questions | by | R@1 | R@5 | R@10 | any@5 | MRR | median | p95 |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for category in dict.fromkeys(category for category, _ in groups):
        for variant in variants:
            found = groups[category, variant]
            means = " | ".join(f"{statistics.mean(row[name] for row in found):.3f}" for name in FIGURES)
            times = sorted(row["ms"] for row in found)
            slow = times[min(len(times) - 1, int(0.95 * len(times)))]
            lines.append(
                f"| {category} ({len(found)}) | {variant} | {means} | {statistics.median(times):.1f} ms | {slow:.1f} ms |"
            )
    return "\n".join(lines)


class Baselines:
    """What plain tools find over the same raw texts: one text a unit, read from the store that the product filled."""

    def __init__(self, database: Path, unit: str) -> None:
        store = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
        events = "SELECT session_id, group_concat(payload_json, char(10)) FROM events GROUP BY 1"
        if unit == "document":
            events = "SELECT 'e' || id, payload_json FROM events UNION ALL SELECT 'm' || id, text FROM facts"
        self.texts: dict[str, str] = dict(store.execute(events))
        store.close()
        self._lower = {name: text.lower() for name, text in self.texts.items()}
        self._index = sqlite3.connect(":memory:")
        self._index.execute("CREATE VIRTUAL TABLE texts USING fts5 (name UNINDEXED, text)")
        self._index.executemany("INSERT INTO texts VALUES (?, ?)", self.texts.items())

    def fts5(self, question: str) -> list[str]:
        """FTS5 with its default tokenizer, every word joined by OR, best first by bm25."""
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", question)))
        sql = "SELECT name FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT 50"
        return [row[0] for row in self._index.execute(sql, (words,))] if words else []

    def grep(self, question: str) -> list[str]:
        """`grep -i` for each word: the texts that hold the most of them, then the most often."""
        words = {word.lower() for word in re.findall(r"\w{3,}", question)}
        counts = {name: [text.count(word) for word in words] for name, text in self._lower.items()}
        ranked = sorted(counts, key=lambda name: (-sum(map(bool, counts[name])), -sum(counts[name])))
        return [name for name in ranked if any(counts[name])][:50]
