"""Pods of one workspace: its own rows and facts, and those for every project, blended for who asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from siftd.facts.blending import Blend, blend
from siftd.facts.pods import Asker, Fact, Pod
from siftd.store import pods
from siftd.store.access import Database


class Store(NamedTuple):
    """A store, as far as pods go."""

    letter: str
    """By which its facts are cited."""
    project: str
    """The key of its workspace."""
    connection: Database


def blended(stores: Sequence[Store], asker: Asker) -> Blend:
    """Return what who asks is handed of these stores."""
    rows, facts = read(stores, asker)
    return blend(rows, facts, asker)


def read(stores: Sequence[Store], asker: Asker) -> tuple[list[Pod], list[Fact]]:
    """Return the pods that have a row, and the facts that may stand in any. A store of an older siftd has neither."""
    rows: list[Pod] = []
    facts: list[Fact] = []
    for letter, project, connection in stores:
        if pods.has_tables(connection):
            rows += pods.list_pods(connection, letter)
            facts += pods.list_facts(
                connection, letter, project, asker.session, asker.now_ms, only_accepted=project != asker.project
            )
    return rows, facts
