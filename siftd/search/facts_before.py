"""A fact before the summaries and events that it was taken from: they say the same, and it says it alone."""

from __future__ import annotations

from siftd.search.facts import OWN
from siftd.store import fact_sources
from siftd.store.access import Database
from siftd.store.fact_scope import OWNER
from siftd.wire.requests.finding import Hit


def put_facts_before_sources(connection: Database, hits: list[Hit]) -> None:
    """Let each fact of this project stand where the first hit stands that holds the words which it was taken from.

    What else an event tells keeps its place: only a hit of a source, with the very quote in it, says the same.
    """
    facts = [int(hit["id"][1:]) for hit in hits if hit["kind"] == OWNER and hit["id"][0] == OWN]
    if not facts:
        return
    for fact_id, (quote, events) in fact_sources.quotes_of(connection, facts).items():
        said = _folded(quote)
        at = next(number for number, hit in enumerate(hits) if hit["id"] == f"{OWN}{fact_id}")
        places = (
            number
            for number, hit in enumerate(hits[:at])
            if hit["kind"] != OWNER and hit["eventId"] in events and said in _folded(hit["text"])
        )
        if (first := next(places, None)) is not None:
            fact = hits.pop(at)
            fact["why"] |= {"before": hits[first]["id"]}
            fact["score"] = hits[first]["score"]
            hits.insert(first, fact)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
