"""Searching one workspace: the engine of the reading thread, and the numbers by which this project weighs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from msgspec.structs import replace

from siftd.daemon.storage import Storage
from siftd.daemon.store_access import StoreAccess
from siftd.errors import RequestInvalid
from siftd.filters import Filters
from siftd.ranking_config import Scoring
from siftd.search.documents import KIND, DocumentSearch
from siftd.search.notes import find as find_notes
from siftd.store import event_views, team_reading
from siftd.store.access import Database
from siftd.store.scoring import read_scoring
from siftd.wire.requests import DocumentHit, NoteHit, Search, SearchesState
from siftd.workspace.project_config import ProjectFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from siftd.search.engine import Answer, SearchEngine
    from siftd.search.team import TeamSearch
    from siftd.search.vectors import VectorIndex


class SearchAccess:
    """Makes the engine when something is first searched for."""

    def __init__(self, storage: Storage, store: StoreAccess) -> None:
        self._storage = storage
        self._store = store
        self._file = ProjectFile(storage.workspace.root)
        self._engine: SearchEngine | None = None
        self._team: TeamSearch | None = None
        self._documents: DocumentSearch | None = None
        self._asked: tuple[object, NDArray[np.float32]] | None = None
        self._reads_ahead = False
        self._state: SearchesState = {"count": 0, "lastTs": None, "lastMs": None, "lastHits": None}

    def state(self) -> SearchesState:
        """Return how much was searched for since the daemon started. Nothing of what: that may be anybody's word."""
        return self._state

    def note_search(self, ms: float, hits: int) -> None:
        """Note a search that was answered."""
        now_ms, number = self._storage.clock.now_ms(), self._state["count"] + 1
        self._state = {"count": number, "lastTs": now_ms, "lastMs": ms, "lastHits": hits}

    async def search(self, request: Search) -> tuple[Answer, list[NoteHit], list[DocumentHit]]:
        """Search in the reading thread, which then reads what later searches need, a piece at a time. No filter is of
        notes: with one, none are found."""

        def search(connection: Database) -> tuple[Answer, list[NoteHit], list[DocumentHit]]:
            filters = request.filters
            is_of_own = not filters.team and filters.source is None
            documents = self.documents(connection).find(request.query, filters, request.k) if is_of_own else []
            if filters.kind == KIND:
                from siftd.search.engine import Answer

                return Answer([], None), [], documents
            answer = self._find(connection, request)
            if not self._reads_ahead:
                self._reads_ahead = True
                self._store.repeat(self._read_ahead)
            notes = find_notes(connection, request.query) if _is_of_notes(filters) else []
            return answer, notes, documents

        return await self._store.read(search)

    def _find(self, connection: Database, request: Search) -> Answer:
        """Return what is found in the workspace's own store and in the team's replica, if there is one."""
        filters = request.filters
        team = None if filters.team is False else self.team(connection)
        if team is None and filters.source is None:
            if not filters.team:
                return self._find_own(connection, request, filters)
            if team_reading.find_person(connection) is None:
                raise RequestInvalid("this workspace is of no team", hint="`mem team join` makes it one's")
        from siftd.search import team as team_search
        from siftd.search.engine import Answer

        own = None if filters.team else team_search.of_own(filters)
        answer = Answer([], None) if own is None else self._find_own(connection, request, own)
        if team is None:
            return Answer([], team_search.NOTHING_YET) if filters.team else answer
        theirs = team.search(request.query, request.k, filters, weights=request.weights, group=request.group)
        return team_search.merged(answer, theirs, request.k, is_by_time=not request.query.strip())

    def _find_own(self, connection: Database, request: Search, filters: Filters) -> Answer:
        return self.engine(connection).search(
            request.query,
            request.k,
            filters,
            weights=request.weights,
            group=request.group,
            asking=event_views.find_asking(connection, request.asking),
        )

    def _read_ahead(self, connection: Database) -> bool:
        self._reads_ahead = False  # whatever becomes of this piece; nobody looks meanwhile but this thread
        self._reads_ahead = self.engine(connection).read_ahead()
        if not self._reads_ahead and self._team is not None:
            self._reads_ahead = self._team.read_ahead()
        return self._reads_ahead

    def forget(self) -> None:
        """Let the next search read anew what searches keep of rows: a person may have changed it."""
        self._engine = None
        self._team = None
        self._documents = None

    def _embed_question(self, text: str, weights: Mapping[str, float] | None) -> NDArray[np.float32]:
        """Return a question's vector; a model is asked once for hits and documents."""
        from siftd.search.vectors import is_built_in

        embedder = self._storage.embedder
        asked = text, weights if is_built_in(embedder.name) else None
        if self._asked is None or self._asked[0] != asked:
            self._asked = asked, embedder.embed_question(text, weights)
        return self._asked[1]

    def documents(self, connection: Database) -> DocumentSearch:
        """Return what finds in documents. For the reading thread."""
        if self._documents is None:
            self._documents = DocumentSearch(connection, self._store.index, self._embed_question)
        return self._documents

    def engine(self, connection: Database) -> SearchEngine:
        """Return the engine of the reading thread."""
        if self._engine is None:
            everywhere = self._store.everywhere.connection
            self._engine = self._new_engine(connection, connection, self._store.index, everywhere)
        return self._engine

    def team(self, connection: Database) -> TeamSearch | None:
        """Return what finds in the team's replica; None where there is none. For the reading thread.

        `connection` is the workspace's own, by which it is known who asks and how this project weighs.
        """
        replica = self._store.team.connection()
        if replica is None:
            self._team = None
        elif self._team is None or self._team.replica is not replica:  # it was pulled anew
            from siftd.search.team import TeamSearch

            index: list[VectorIndex] = []

            def find_index() -> VectorIndex:
                if not index:
                    index.append(self._store.new_index())
                return index[0]

            engine = self._new_engine(replica, connection, find_index, lambda: None)
            self._team = TeamSearch(
                replica, engine, lambda: team_reading.find_person(connection), self._store.team.note
            )
        return self._team

    def _new_engine(
        self,
        searched: Database,
        own: Database,
        index: Callable[[], VectorIndex],
        everywhere: Callable[[], Database | None],
    ) -> SearchEngine:
        from siftd.search.engine import SearchEngine
        from siftd.search.weights import of_settings

        return SearchEngine(
            searched,
            index,
            self._embed_question,
            self._storage.clock.now_ms,
            of_settings(self._storage.settings),
            everywhere,
            lambda label: {**(layers := self.scoring_layers(own, label))["file"], **layers["project"]},
        )

    def scoring_layers(self, connection: Database, label: str | None = None) -> dict[str, dict[str, float]]:
        """Return this project's numbers by where they come from, what decides first. For the reading thread.

        Those of a label decide for what is searched under it.
        """
        from_file, _ = self._file.read()
        own = read_scoring(connection) | (read_scoring(connection, label) if label is not None else {})
        return {"project": own, "file": from_file, "default": asdict(Scoring())}

    async def file_problem(self) -> str | None:
        """Return what is wrong with the project's own file."""
        _, problem = await self._store.read(lambda _: self._file.read())
        return problem


def _is_of_notes(filters: Filters) -> bool:
    """Whether a note may be found: it is no team's, and has nothing that another filter could ask of it."""
    if filters.team or filters.source not in (None, "note"):
        return False
    return replace(filters, team=None, source=None) == Filters()
