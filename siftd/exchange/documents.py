"""Documents from an exported file: known by their path, their URL or their title, redacted anew, kept through the log.

One that is here stays as it is: it was read in here, by whoever asks now, and the file may be older.
"""

from __future__ import annotations

import asyncio
from typing import get_args

from siftd.documents.model import DocumentKind
from siftd.errors import EnvelopeRejected
from siftd.exchange.format import DocumentLine
from siftd.exchange.import_context import Forgotten, ImportContext, payload_of
from siftd.store import documents
from siftd.store.documents import METADATA_MAX, Source

_TYPES = get_args(DocumentKind)


async def take_document(context: ImportContext, line: DocumentLine) -> bool:
    """Keep a document, unless one that is known by the same is here; return whether it is new. Raises Forgotten, and
    EnvelopeRejected for what could not have been kept here either.

    Without the hash of what was read: whoever has the file reads it anew.
    """
    if line.type not in _TYPES or (line.path is not None and line.url is not None) or len(line.metadata) > METADATA_MAX:
        raise EnvelopeRejected("no_such_document")
    fields = {
        "path": line.path,
        "url": line.url,
        "title": line.title,
        "type": line.type,
        "metadata": line.metadata,
        "text": line.text,
        "ts": line.ts,
    }
    intent = await asyncio.to_thread(context.admit_intent, "document", fields)
    source = Source.of(payload_of(intent))
    if await context.ask(lambda c: documents.find_id(c, source)) is not None:
        return False
    if not await context.keep_or_raise(intent):
        raise Forgotten
    return True
