"""The graph, kept up with events, facts and documents: background work, never a hook's. It needs no model; one that a
person lets read words too (`graph.askModel`) only adds what the words bear out (`siftd.summarise.graph_answers`).

A tick reads what is new, in pieces: each is read, understood in a thread of its own, and written in one short
transaction, so that captures wait for none of it. What was looked at is noted in the same transaction; a daemon that
ends in between reads it again, which changes nothing. A tick without anything new writes nothing. What understands is
loaded with the first item, not at a daemon's start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import anyio.to_thread
import structlog

from siftd.clients.own import is_own_traffic
from siftd.consolidate.deeds import place_of
from siftd.consolidate.drain import Drainer, Store
from siftd.consolidate.passes import OTHER_SHARE, Round
from siftd.embed.embedder import Embedder
from siftd.graph.model import Found, Named
from siftd.graph.names import COSINE_MIN, Marks, is_borne_out, may_be_one
from siftd.store import graph_items, graph_merges, graph_names, graph_writing
from siftd.store.access import Database
from siftd.store.graph_items import DocumentRow, EventRow, FactRow, UnreadRow
from siftd.store.graph_writing import Said
from siftd.store.payload import branch_of, find_object
from siftd.summarise import graph_answers
from siftd.summarise.extractive.text import printed

if TYPE_CHECKING:
    from siftd.graph.events import Happened, Problem

log = structlog.get_logger()

Row = TypeVar("Row", EventRow, FactRow, DocumentRow)

QUEUE_BATCH = 50
EVENTS_A_WRITE = 10
LINKS_A_WRITE = 100
"""What one transaction takes in at most: some 20 ms, for which a capture may have to wait."""
KNOWN_MAX = 5_000
"""Names whose vectors a new one is compared with, the newest ones."""
UNKNOWN_MAX = 64
"""New names of one item that are looked for by their vectors; those of a longer list are new."""
ASKED_A_ROUND = 8
"""Items that a model is asked about in one tick or drain; of a longer backlog the others are read without it."""
_PATH_KEYS = ("file_path", "notebook_path", "path")


class Understood(NamedTuple):
    """An item that was read."""

    item: str
    text: str
    """As it was read; it is written only while it is the same."""
    words: str
    """What of it is words, in which a name may stand."""
    found: Found
    said: Said
    problems: Sequence[Problem]
    content_hash: str = ""
    """Of the reading of a document."""


class GraphBuilding:
    """Reads what is new into the graph."""

    name = "graph"
    share = OTHER_SHARE

    def __init__(self, store: Store, embedder: Embedder, marks: Marks, root: str, *, asks_model: bool = False) -> None:
        """`root` is the project's folder, "" where it has none; `asks_model`: a configured model reads words, too."""
        self._asks_model = asks_model
        self._store = store
        self._embedder = embedder
        self._marks = marks
        self._root = root.rstrip("/")
        self._project = Named("project", self._root.rpartition("/")[2] or "project")

    async def run(self, work: Round) -> None:
        """Read on; what there is no time for is read at the next tick."""
        if await self._read_queue(work):
            await self._read_events(work)

    async def _read_queue(self, work: Round) -> bool:
        """Read the facts and documents that wait; return whether there is time left."""
        await self._settle(work)
        after, asked = "", 0
        while items := await self._store.read(lambda c, a=after: graph_items.list_queued(c, a, QUEUE_BATCH)):  # type: ignore[misc]
            for item in items:
                if item[0] == "d":
                    await self._read_older(int(item[1:]))
                understood = await self._store.read(partial(self._load, item=item))
                if understood is None:
                    await self._leave_out(item)
                else:
                    each = await anyio.to_thread.run_sync(understood)
                    if self._asks_model and asked < ASKED_A_ROUND:
                        asked += await self._ask(each, work.drainer)
                    await self._write(each)
                if not work.goes_on():
                    return False
            after = items[-1]
        return True

    async def _leave_out(self, item: str) -> None:
        """Let an item that says nothing leave the queue, unless it may say something one day."""
        number = int(item[1:])
        if item[0] != "m" or not await self._store.read(lambda c: graph_items.is_waiting(c, number)):
            await self._store.write(lambda c: graph_items.take_from_queue(c, item))

    async def _ask(self, each: Understood, drainer: Drainer) -> bool:
        """Ask a model what else an item's words relate; return whether it was asked."""
        if not graph_answers.is_worth_asking(each.words):
            return False
        answer = await drainer.ask_model(graph_answers.prompt_for(each.words))
        if answer is not None:
            graph_answers.read_relations(each.found, answer, each.words)
        return answer is not None

    async def _read_older(self, document_id: int) -> None:
        """Read what a document said before, as far as the graph does not know."""
        while True:
            row = await self._store.read(lambda c: graph_items.find_unread(c, document_id))
            if row is None:
                return
            earlier = DocumentRow(document_id, row.ts, row.path, row.type, "", row.text, None)
            each = await anyio.to_thread.run_sync(self._safely, self._of_document, earlier)

            def put(connection: Database, row: UnreadRow = row, each: Understood = each) -> None:
                if graph_items.is_as_read(connection, f"u{row.id}", row.text):
                    graph_writing.put(connection, each.item, each.found, each.said, self._marks)
                graph_items.drop_unread(connection, row.id)

            await self._store.write(put)

    async def _settle(self, work: Round) -> None:
        """Look after entities that something was taken from, or that were merged, piece by piece."""
        while await self._store.read(graph_merges.has_queued):
            await self._store.write(graph_merges.settle_queued)
            if not work.goes_on():
                return

    async def _read_events(self, work: Round) -> None:
        while True:
            after = await self._store.read(graph_items.read_upto)
            rows, upto = await self._store.read(lambda c, a=after: graph_items.list_events_after(c, a))  # type: ignore[misc]
            if upto == after:
                return
            understood = await anyio.to_thread.run_sync(self._of_events, rows)
            saying = [each for each in understood if each.found]
            for start in range(0, len(saying), EVENTS_A_WRITE):
                batch = saying[start : start + EVENTS_A_WRITE]
                await self._store.write(lambda c, b=batch: [self._put(c, each) for each in b])  # type: ignore[misc]
                self._report(batch)
            await self._store.write(lambda c, u=upto: graph_items.note_upto(c, u))  # type: ignore[misc]
            if not work.goes_on():
                return

    def _load(self, connection: Database, *, item: str) -> partial[Understood] | None:
        """Return how an item is understood, once it is read; None where there is nothing to read any more."""
        kind, number = item[0], int(item[1:])
        if kind == "e" and (event := graph_items.find_event(connection, number)) is not None:
            return partial(self._safely, self._of_event, event)
        if kind == "m" and (fact := graph_items.find_fact(connection, number)) is not None:
            return partial(self._safely, self._of_fact, fact)
        if kind == "d" and (document := graph_items.find_document(connection, number)) is not None:
            return partial(self._safely, self._of_document, document)
        return None

    def _safely(self, understand: Callable[[Row], Understood], row: Row) -> Understood:
        """Understand an item. One that makes that fail says nothing new, and is reported: all others are read."""
        try:
            return understand(row)
        except Exception as error:  # noqa: BLE001 - an item's boundary: its fault must not stop the graph for good
            blank = _blank(row)
            log.error("graph_item_not_read", item=blank.item, error=type(error).__name__)  # noqa: TRY400 - no text
            return blank

    def _of_events(self, rows: Sequence[EventRow]) -> list[Understood]:
        return [self._safely(self._of_event, each) for each in rows]

    def _of_event(self, row: EventRow) -> Understood:
        from siftd.graph.events import read_event

        found = Found()
        payload = find_object(row.payload_json)
        problems: list[Problem] = []
        if payload is not None and not is_own_traffic(row.kind, row.action, row.tool, payload):
            root, _ = place_of(row.cwd or "", self._root)
            problems = read_event(found, _happened(row, payload), root or self._root, self._project)
        return Understood(f"e{row.event_id}", row.payload_json, "", found, Said(row.ts), problems)

    def _of_fact(self, row: FactRow) -> Understood:
        from siftd.graph.prose import read_prose

        found = Found()
        read_prose(found, row.text)
        said = Said(row.since, row.until, is_judged=True)
        return Understood(f"m{row.fact_id}", row.text, row.text, found, said, [])

    def _of_document(self, row: DocumentRow) -> Understood:
        from siftd.graph.documents import CODE, read_document

        found = Found()
        problems = read_document(found, row.path, row.type, row.text, self._project)
        is_rewritten = row.read_hash == row.content_hash  # something was taken out: what it said before is no history
        said = Said(row.ts, keeps_history=not is_rewritten)
        words = "" if row.type == CODE else row.text
        return Understood(f"d{row.document_id}", row.text, words, found, said, problems, row.content_hash)

    async def _write(self, each: Understood) -> None:
        """Write what an item of the queue says, in pieces where it is much."""
        known = await self._known_by_vector(each)
        pieces = list(each.found.slices(LINKS_A_WRITE))[:-1]
        for piece in pieces:
            partly = each._replace(found=piece, said=each.said._replace(is_partial=True))
            await self._store.write(lambda c, p=partly: self._put(c, p, known))  # type: ignore[misc]
        await self._store.write(lambda c: self._put_queued(c, each, known))
        self._report([each])

    def _put_queued(self, connection: Database, each: Understood, known: dict[Named, int]) -> None:
        if self._put(connection, each, known):
            graph_items.take_from_queue(connection, each.item)
            if each.item[0] == "d":
                graph_items.note_document(connection, int(each.item[1:]), each.content_hash)

    def _put(self, connection: Database, each: Understood, known: dict[Named, int] | None = None) -> bool:
        """Put what an item says, if it still says so; else it waits in the queue, or is gone."""
        if not graph_items.is_as_read(connection, each.item, each.text):
            return False
        graph_writing.put(connection, each.item, each.found, each.said, self._marks, known=known)
        return True

    async def _known_by_vector(self, each: Understood) -> dict[Named, int]:
        """Return the known entities that new names may be other names of, by their vectors and by the text."""
        names = [spoken.named for spoken in each.found.spoken]
        new = await self._store.read(lambda c: graph_names.unknown(c, names))
        if not new or not each.words or len(new) > UNKNOWN_MAX or self._embedder.known_dim is None:
            return {}
        name = self._embedder.name
        known = await self._store.read(lambda c: graph_names.list_vectors(c, name, KNOWN_MAX))
        if not known:
            return {}
        try:
            return await anyio.to_thread.run_sync(self._nearest, new, known, each.words)
        except Exception as error:  # noqa: BLE001 - an embedder may fail in any way; without it these names are new
            log.warning("graph_names_not_embedded", error=getattr(error, "code", type(error).__name__))
            return {}

    def _nearest(self, new: Sequence[Named], known: Sequence[graph_names.KnownName], words: str) -> dict[Named, int]:
        import numpy as np  # a daemon that is asked nothing holds nothing of it

        vectors = self._embedder.embed([each.name for each in new])
        of_known = np.stack([np.frombuffer(each.vector, dtype=np.float32) for each in known])
        found: dict[Named, int] = {}
        for named, cosines in zip(new, vectors @ of_known.T, strict=True):
            for at in np.argsort(-cosines)[:8]:
                entity = known[int(at)]
                if cosines[at] < COSINE_MIN:
                    break
                if may_be_one(named.type, entity.type) and is_borne_out(named.name, entity.name, words):
                    found[named] = entity.entity_id
                    break
        return found

    def _report(self, batch: Sequence[Understood]) -> None:
        """Say which manifests were not read, and of what something was left out; no captured text is in it."""
        for each in batch:
            for problem in each.problems:
                log.warning("manifest_not_read", item=each.item, why=problem.why)
            if each.found.left_out:
                log.info("graph_left_out", item=each.item, count=each.found.left_out)


def _blank(row: EventRow | FactRow | DocumentRow) -> Understood:
    """Return an item that says nothing new, and ends nothing."""
    match row:
        case EventRow():
            item, text, ts, content_hash = f"e{row.event_id}", row.payload_json, row.ts, ""
        case FactRow():
            item, text, ts, content_hash = f"m{row.fact_id}", row.text, row.since, ""
        case _:
            item, text, ts, content_hash = f"d{row.document_id}", row.text, row.ts, row.content_hash
    return Understood(item, text, "", Found(), Said(ts, is_partial=True), [], content_hash)


def _happened(row: EventRow, payload: dict[str, Any]) -> Happened:
    from siftd.graph.events import Happened

    given = payload.get("tool_input")
    given = given if isinstance(given, dict) else {}
    error = payload.get("error")
    command, written = given.get("command"), given.get("content")
    stamped = payload.get("symbols")
    return Happened(
        action=row.action,
        outcome=row.outcome,
        branch=branch_of(row.payload_json[:300]),
        command=command if isinstance(command, str) else None,
        output=printed(error) if error is not None else printed(payload.get("tool_response")),
        paths=tuple(path for key in _PATH_KEYS if isinstance(path := given.get(key), str) and path),
        symbols=tuple(each for each in stamped if isinstance(each, str)) if isinstance(stamped, list) else (),
        written=written if isinstance(written, str) else None,
    )
