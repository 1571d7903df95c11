"""Searching a team's replica beside the workspace's own store: the same engine over another store, hits cited as t12.

Scores are made alike in each, as where every workspace is asked, so that hits of both are put in one order by them. A
team that cannot be read takes no search away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import structs

from siftd import ids
from siftd.filters import Filters
from siftd.search.engine import K_MAX, Answer, SearchEngine
from siftd.store import team_reading
from siftd.store.access import Database, DatabaseError
from siftd.store.fact_scope import OWNER
from siftd.wire.requests.finding import Hit

OWN_KINDS = {"memory": OWNER, "fact": OWNER, "summary": "summary"}
"""What of a workspace's own is of a team's source; the others only a team has."""
NOTHING_YET = "nothing of the team's is here yet: `mem team status` tells why"
BROKEN = "without the team's memory: its replica cannot be read, and is pulled again (`mem team status`)"


class TeamSearch:
    """Finds in one replica. Used from one thread at a time."""

    def __init__(
        self,
        replica: Database,
        engine: SearchEngine,
        person: Callable[[], str | None],
        on_error: Callable[[DatabaseError], object],
    ) -> None:
        """`engine` is one over the replica; `person` says who asks, as the team knows them; `on_error` hears that the
        replica cannot be read."""
        self.on_error = on_error
        self.replica = replica
        self._engine = engine
        self._person = person

    def search(
        self,
        query: str,
        k: int,
        filters: Filters,
        *,
        weights: Mapping[str, float] | None = None,
        group: str | None = None,
    ) -> Answer:
        """Return at most `k` hits of others, and of who asks from their other devices; why it was less than whole."""
        asked = _of_replica(filters)
        if asked is None:
            return Answer([], None)
        try:
            found = self._engine.search(query, k, asked, weights=weights, group=group)
            numbers = {int(hit["id"][1:]): hit for hit in found.hits}
            marks = team_reading.marks(self.replica, numbers, self._person())
        except DatabaseError as error:
            self.on_error(error)
            return Answer([], BROKEN)
        hits = [_cited(hit, number) | {"team": marks[number]} for number, hit in numbers.items() if number in marks]
        return Answer(hits, found.degraded and f"of the team's memory: {found.degraded}")

    def read_ahead(self) -> bool:
        """Read a piece of what searches need and have not met yet; return whether more is left."""
        try:
            return self._engine.read_ahead()
        except DatabaseError as error:
            self.on_error(error)
            return False


def of_own(filters: Filters) -> Filters | None:
    """Return what is asked of the workspace's own store; None where that has nothing of the kind."""
    if filters.source is None:
        return filters
    kind = OWN_KINDS.get(filters.source)
    if kind is None or filters.kind not in (None, kind):
        return None
    return structs.replace(filters, kind=kind)


def merged(own: Answer, team: Answer, k: int, *, is_by_time: bool) -> Answer:
    """Return the best hits of both, or the latest where nothing was asked."""
    hits = own.hits + team.hits
    if team.hits:
        hits.sort(key=(lambda hit: -hit["ts"]) if is_by_time else (lambda hit: -hit["score"]))
    return Answer(hits[: max(0, min(k, K_MAX))], "; ".join(filter(None, (own.degraded, team.degraded))) or None)


def _of_replica(filters: Filters) -> Filters | None:
    """Return what is asked of the replica, whose facts are labelled with their source; None where that has nothing of
    the kind: nobody's files, tools and labels come up."""
    if filters.label is not None or filters.tool or filters.client or filters.file or filters.symbol:
        return None
    asked = structs.replace(filters, source=None, team=None, project=True)
    if filters.source is None:
        return asked
    kind = "summary" if filters.source == "summary" else OWNER
    if filters.kind not in (None, kind):
        return None
    return structs.replace(asked, kind=kind, label=None if kind == "summary" else filters.source)


def _cited(hit: Hit, number: int) -> Hit:
    """Return a hit of the replica as it is cited here: what is behind it is on its author's device."""
    return {**hit, "id": ids.cite(ids.TEAM, number), "eventId": None, "branch": None, "client": None, "asked": None}
