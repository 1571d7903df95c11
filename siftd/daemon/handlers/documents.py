"""Requests about documents: which are known, taking one in, listing, letting go.

Whoever asks has read them; here the text is redacted, off the event loop and whole, kept in the log, and only then cut
into chunks. What the hash of its bytes is kept as is keyed, so that nobody can test a guess against it.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path
from typing import Any

from siftd import ids
from siftd.capture.intake import Intake
from siftd.clock import Clock
from siftd.consolidate.chunking import Chunker
from siftd.daemon.group_commit import Committer
from siftd.daemon.handlers.answering import answers
from siftd.daemon.intents import Intents
from siftd.daemon.store_access import StoreAccess
from siftd.documents.model import TEXT_BYTES_MAX
from siftd.errors import NothingFound, RequestInvalid
from siftd.store import chunks, documents
from siftd.store.access import Database
from siftd.store.documents import METADATA_MAX, Document, Source
from siftd.wire import cursors, requests

JSON_BYTES_MAX = 15 * 512 * 1024
"""Of one document's text as JSON, which writes a control character in six: it is kept in one line of the log, and of an
export, which takes 8 MiB."""
NAME_CHARS_MAX = 4_096
"""Of a path, a URL or a title: what a path may have."""
VALUE_CHARS_MAX = 1_000
ASKED_MAX = 10_000
"""Files that are asked about at once."""
LIST_MAX = 500
_TOP = 2**62


class DocumentRequests:
    """Answers them for one workspace."""

    def __init__(
        self,
        *,
        store: StoreAccess,
        committer: Committer,
        intents: Intents,
        intake: Intake,
        chunker: Chunker,
        root: str,
        secret: bytes,
        clock: Clock,
    ) -> None:
        self._store = store
        self._committer = committer
        self._intents = intents
        self._intake = intake
        self._chunker = chunker
        self._below = f"{root.rstrip('/')}/"
        self._secret = secret
        self._clock = clock

    @answers(requests.KnownDocuments)
    async def known(self, request: requests.KnownDocuments) -> requests.KnownDocumentsAnswer:
        """Return which files are kept as they are."""
        if len(request.files) > ASKED_MAX:
            raise RequestInvalid("too many files are asked about at once", hint=f"ask about {ASKED_MAX:,} at a time")
        await self._committer.catch_up()
        stamps = {self._place(path): (path, self._keyed(content)) for path, content in request.files}
        asked = [(place, keyed) for place, (_, keyed) in stamps.items()]
        found = await self._store.read(lambda c: documents.list_known(c, asked))
        return {"known": [path for place, (path, _) in stamps.items() if place in found]}

    @answers(requests.IngestDocument)
    async def ingest(self, request: requests.IngestDocument) -> requests.IngestedAnswer:
        """Keep a document. Raises RequestInvalid for one that is too large, or known by nothing."""
        self._check(request)
        await self._committer.catch_up()
        source = await asyncio.to_thread(self._source_of, request)
        content = self._keyed(request.hash)
        before = await self._store.read(lambda c: _find(c, source))
        is_same = before is not None and (before.content_hash, before.type) == (content, request.type)
        if before is None or not is_same:
            await self._keep(request, source, content, before)
        after = await self._store.read(lambda c: _find(c, source))
        if after is None:
            raise NothingFound("the document was let go meanwhile", hint="ingest it again")
        made = await self._chunker.do(after.id)
        return {
            "id": ids.cite_document(after.id),
            "status": "added" if before is None else "unchanged" if is_same else "changed",
            "chunks": made.chunks,
            "chunksMade": made.new,
        }

    @answers(requests.Documents)
    async def list_documents(self, request: requests.Documents) -> requests.DocumentsAnswer:
        limit = max(1, min(request.limit, LIST_MAX))
        (before,) = cursors.decode(request.cursor, int)

        def read(connection: Database) -> tuple[list[Document], int]:
            below = _TOP if before is None else before
            found = documents.list_before(connection, below, limit + 1, request.type)
            return found, documents.count(connection)[0]

        found, number = await self._store.read(read)
        shown, cursor = cursors.page(found, limit, lambda each: (each.id,))
        return {"documents": [listed(each) for each in shown], "count": number, "nextCursor": cursor}

    @answers(requests.RemoveDocuments)
    async def remove(self, request: requests.RemoveDocuments) -> requests.RemovedAnswer:
        """Let documents go. Raises NothingFound where one is not there; then nothing was done."""
        wanted = [_number_of(each) for each in request.ids]
        await self._committer.catch_up()
        found = await self._store.read(lambda c: documents.find_all(c, wanted))
        if missing := [each for each in wanted if each not in found]:
            cited = ids.cite_document(missing[0])
            raise NothingFound(f"there is no document {cited}", hint="`mem documents` lists them")
        for number in found:
            await self._intents.keep("document_removed", {"document": number})
        return {"documents": len(found), "chunks": sum(each.chunk_count for each in found.values())}

    async def _keep(
        self, request: requests.IngestDocument, source: Source, content: str, before: Document | None
    ) -> None:
        """Keep a record of it. Redacted in a thread: a megabyte takes the redactor some 50 ms."""
        now_ms = self._clock.now_ms()
        payload: dict[str, Any] = {
            "path": source.path,
            "url": source.url,
            "title": source.title,
            "type": request.type,
            "contentHash": content,
            "metadata": request.metadata,
            "text": request.text,
            "ts": now_ms,
            "document": None if before is None else before.id,
        }
        given = {name: value for name, value in payload.items() if value not in (None, {})}
        admit = self._intake.admission.admit_intent
        await self._intents.keep_admitted(await asyncio.to_thread(lambda: admit("document", given, ts=now_ms)))
        await self._committer.catch_up()

    def _source_of(self, request: requests.IngestDocument) -> Source:
        """Return by what a document will be known, once it is redacted."""
        path = None if request.path is None else self._place(request.path)
        scrub = self._intake.admission.scrub_text
        return Source(path and scrub(path), request.url and scrub(request.url), scrub(request.title))

    def _check(self, request: requests.IngestDocument) -> None:
        size = len(request.text.encode("utf-8", "replace"))
        if size > TEXT_BYTES_MAX or len(requests.encode(request.text)) > JSON_BYTES_MAX:
            raise RequestInvalid(
                f"the document has more than {TEXT_BYTES_MAX >> 20} MiB of text", hint="give it in parts"
            )
        if request.path is not None and request.url is not None:
            raise RequestInvalid("a document has a path or a URL, not both", hint="leave one out")
        named = [each for each in (request.path, request.url, request.title) if each is not None]
        if not request.title.strip() or any(len(each) > NAME_CHARS_MAX or "\x00" in each for each in named):
            raise RequestInvalid("a document needs a title, and a name of ordinary length", hint="give a title")
        if len(request.metadata) > METADATA_MAX or any(
            len(text) > VALUE_CHARS_MAX for pair in request.metadata.items() for text in pair
        ):
            raise RequestInvalid("there is too much beside the text", hint="leave metadata out")

    def _place(self, path: str) -> str:
        """Return a path as it is kept: below the workspace's root without it, so that a moved repository knows it."""
        if not Path(path).is_absolute():
            raise RequestInvalid("an absolute path is wanted", hint="give the whole path")
        whole = os.path.normpath(path)
        if not whole.startswith(self._below):  # by another name of a folder above it, /tmp on macOS for instance
            folder, name = os.path.split(whole)
            real = f"{os.path.realpath(folder)}/{name}"
            whole = real if real.startswith(self._below) else whole
        return whole.removeprefix(self._below)

    def _keyed(self, content: str) -> str:
        return hashlib.blake2b(content.encode(), key=self._secret, digest_size=16, person=b"documents").hexdigest()


def listed(document: Document) -> requests.DocumentListed:
    """Return a document as a list tells of it."""
    return {
        "id": ids.cite_document(document.id),
        "path": document.path,
        "url": document.url,
        "type": document.type,
        "title": document.title,
        "chunks": document.chunk_count,
        "metadata": document.metadata,
        "ingestedTs": document.ingested_ts,
    }


def shown(connection: Database, cited: ids.Document) -> requests.ShownDocument | None:
    """Return a document whole, or the chunk of it that a line is in."""
    document = documents.find(connection, cited.number)
    text = documents.read_text(connection, cited.number)
    if document is None or text is None:
        return None
    heading, first, part = "", 1, text
    if cited.line is not None:
        chunk = chunks.find_at(connection, cited.number, cited.line)
        if chunk is None:
            return None
        heading, first, part = chunk.heading, chunk.line, chunk.text
    lines = text.count("\n") + 1
    return {"kind": "document", **listed(document), "heading": heading, "line": first, "lines": lines, "text": part}


def _find(connection: Database, source: Source) -> Document | None:
    number = documents.find_id(connection, source)
    return None if number is None else documents.find(connection, number)


def _number_of(cited: str) -> int:
    named = ids.parse_document(cited)
    if named is None or named.line is not None:
        raise RequestInvalid("this is no document's id", hint="documents are cited like d4; `mem documents` lists them")
    return named.number
