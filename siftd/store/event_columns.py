"""The columns of an event's row: what a record keeps of it, by the same names.

A field that `RedactedEvent` and `Record` both have is a column, is written by `siftd.store.events`, and goes into
exports (`siftd.exchange.format.EventLine` says of which form): nothing else lists them.
"""

from __future__ import annotations

from siftd.log.record import OF_AN_EVENT

_JUDGED = ("event_kind", "action", "said_by")
"""What a record of an older siftd does not say: then its tool and the way it came do (`siftd.clients.older`)."""
_OF_A_SESSION = ("client", "cwd")
AS_RECORDED = ("uid", *(each for each in OF_AN_EVENT if each not in (*_JUDGED, *_OF_A_SESSION)))
"""Columns that a record fills as it is."""
COLUMNS: tuple[str, ...] = ("id", "payload_json", "kind", "action", "said_by", *AS_RECORDED)
"""All that are not the consolidator's (`status`, `attempts`, `last_error`)."""
EXPORTED = ("kind AS event_kind", *(each for each in COLUMNS if each not in ("kind", "input_hash", "tokens_est")))
"""What an export's line says of an event: not what follows from its payload."""
