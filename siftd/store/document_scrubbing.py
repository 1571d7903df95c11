"""Today's rules over the texts of documents: each looked at whole, for a secret may lie across two chunks.

The chunks of one that changes go, with their vectors: they are made anew of what it says now. One document at a time is
held in memory, and changed in a transaction of its own.
"""

from __future__ import annotations

import sqlite3

from siftd.capture.admission import Admission
from siftd.store import documents
from siftd.store.scrubbing import Scrubbed, transaction


def scrub_documents(connection: sqlite3.Connection, admission: Admission, scrubbed: Scrubbed, *, dry_run: bool) -> None:
    """Apply today's rules to every document's text."""
    ids = [int(row[0]) for row in connection.execute("SELECT document_id FROM document_texts ORDER BY 1")]
    for document_id in ids:
        text = documents.read_text(connection, document_id)
        if text is None or not admission.may_scrub_texts([[text]])[0]:
            continue
        if (new := admission.scrub_text(text)) == text:
            continue
        scrubbed.note("document_texts", text, new)
        if not dry_run:
            with transaction(connection):
                connection.execute("UPDATE document_texts SET text = ? WHERE document_id = ?", (new, document_id))
                connection.execute("DELETE FROM chunks WHERE document_id = ?", (document_id,))
                connection.execute("UPDATE documents SET split_by = NULL WHERE id = ?", (document_id,))
