"""Rows of PostgreSQL as items of the feed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from siftd.team.items import Put
from siftd.team.protocol import Changed, Changes, Gone, Person

CHANGES = "SELECT * FROM siftd.changes(%s::bytea, %s::uuid, %s::bigint, %s::integer, %s::integer)"
PAGE_BYTES = 3_000_000
"""Of a page's items, at least one: JSON makes up to a quarter more of them, and a message has at most 4 MiB."""


def changes(rows: Sequence[dict[str, Any]]) -> Changes:
    """Return a page; its last row may tell no more than how far it goes."""
    last = rows[-1]
    return Changes(
        epoch=last["of_epoch"],
        head=last["head"],
        cursor=last["cursor"],
        changes=[_change(each) for each in rows if each["id"] is not None],
    )


def _change(row: dict[str, Any]) -> Changed | Gone:
    if row["gone_at"] is not None:
        return Gone(seq=row["seq"], id=row["id"], at=row["gone_at"])
    return Changed(
        seq=row["seq"], item=put(row), author=Person(id=row["author"], name=row["author_name"]), device=row["device"]
    )


def put(row: dict[str, Any]) -> Put:
    """Return the item of a row, without its vector: whoever searches makes their own."""
    names = (
        "id rev hash source source_ref text words metadata visibility ts valid_from valid_to superseded_by archived_at"
    )
    return Put(**{name: row[name] for name in names.split()})
