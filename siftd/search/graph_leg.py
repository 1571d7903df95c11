"""The graph as a leg of a search: what the items say that name whom a question names, by whichever of its names.

Words find a name as it is written. The graph knows the same by its older names, and what hangs together with it: what
names a neighbour answers half as much, and its way is told. Of a long question a name is a small part: an item that
names it answers that share. Off until its weight is set (`search.weights.graph`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from siftd.search.entities import named_in
from siftd.search.query import Question, informative
from siftd.search.retrievers import Found
from siftd.store import graph_evidence, graph_reading
from siftd.store.graph_walk import Along

if TYPE_CHECKING:
    from collections.abc import Callable

    from siftd.search.row_cache import Ids
    from siftd.store.access import Database
    from siftd.wire.requests.finding import Hit

    Allowed = Callable[[Ids], np.ndarray]

NAMED_MAX = 3
"""Entities of one question that are followed."""
NEIGHBOURS_MAX = 8
"""Of each, the most mentioned ones."""
ITEMS_MAX = 40
"""Of each entity and kind, the newest."""
HALF = 0.5
"""What an item answers that names a neighbour alone."""


@dataclass(frozen=True, slots=True)
class Leg:
    """What the graph found: facts best first with how much they answer, events likewise, by which way each."""

    facts: list[tuple[int, float]]
    events: list[tuple[int, float]]
    ways: dict[str, list[str]]
    """By item (m3, e12): the names and relations from what was named to what it names."""

    def found(self, allowed: Allowed) -> Found:
        """Return the events that may be shown, as every retriever does."""
        ids = np.array([each for each, _ in self.events], dtype=np.int64)
        scores = np.array([score for _, score in self.events])
        shown = allowed(ids)
        return Found(ids[shown], np.zeros_like(ids[shown]), scores[shown])

    def add_ways(self, hits: list[Hit]) -> None:
        """Say of hits that the graph found by which way it came to them."""
        for hit in hits:
            if "graph" in hit["why"]:
                way = self.ways.get(hit["id"] if hit["eventId"] is None else f"e{hit['eventId']}")
                hit["why"]["graph"] |= {"path": way} if way is not None else {}


def follow(connection: Database, question: Question, at: int) -> Leg:
    """Return what the graph finds for a question, as it was at a moment."""
    terms = informative(question.terms)
    facts: dict[int, float] = {}
    events: dict[int, float] = {}
    ways: dict[str, list[str]] = {}

    def take(entity_id: int, score: float, way: list[str]) -> None:
        for letter, scores in (("m", facts), ("e", events)):
            for said in graph_evidence.of_entity(connection, entity_id, letter, ITEMS_MAX):
                number = int(said.item[1:])
                if score > scores.get(number, 0.0):
                    scores[number] = score
                    ways[said.item] = way

    for each in named_in(connection, question.text)[:NAMED_MAX]:
        share = min(1.0, len(informative(Question.of(each.run.text).terms)) / max(1, len(terms)))
        rows = graph_reading.relations_of(connection, each.id, Along(at), NEIGHBOURS_MAX)
        names = graph_reading.names_of(connection, [each.id, *(end for row in rows for end in (row[1], row[3]))])
        take(each.id, share, [names[each.id]["name"]])
        for _, src, type_, dst, *_ in rows:
            if src in names and dst in names:
                other = dst if src == each.id else src
                take(other, share * HALF, [names[src]["name"], type_, names[dst]["name"]])
    return Leg(_best_first(facts), _best_first(events), ways)


def _best_first(scores: dict[int, float]) -> list[tuple[int, float]]:
    return sorted(scores.items(), key=lambda each: (-each[1], -each[0]))
