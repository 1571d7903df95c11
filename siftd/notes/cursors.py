"""How far a project's sources were read for its notes.

    $SIFTD_HOME/<ns>/notes/<id>/cursors.json, mode 0600, replaced atomically, and only after what was read is written:

    {"version": 1,
     "store": {"eventId": 812, "uid": "…", "ts": 1764083000000},
     "stamp": "812.790.41.12",                            of the store when it was read (`note_sources.stamp`)
     "transcripts": {"/home/a/.claude/projects/…/1f.jsonl": {"offset": 90112, "seen": "5d0c…"}}}

`seen` is the hash of the bytes (or the line) before the offset: where it does not fit, the file was cut or replaced,
and is read from its beginning. `off` is true, and only then there, once a person has said in it that nothing more is
to be remembered: nothing behind that is ever read. Of a client that keeps sessions in no lines, `offset` counts the
lines made of one.

Compatibility: a higher version is refused by name; unknown fields are dropped at the next write.
"""

from __future__ import annotations

import msgspec

from siftd.errors import SiftdError
from siftd.foreign_file import read
from siftd.notes.layout import Bookkeeping
from siftd.store.note_sources import Place

VERSION = 1
_BYTES_MAX = 16 * 1024 * 1024
TRANSCRIPTS_MAX = 5_000
"""That are remembered; of more, those that were read last."""


class Offset(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far a transcript was read."""

    offset: int = 0
    seen: str = ""
    off: bool = False
    """Whether a person has said in it that nothing more of this session is to be remembered."""


class _Store(msgspec.Struct, rename="camel"):
    event_id: int = 0
    uid: str | None = None
    ts: int = 0


class _File(msgspec.Struct):
    version: int
    store: _Store = msgspec.field(default_factory=_Store)
    transcripts: dict[str, Offset] = {}
    stamp: str = ""


class Cursors(msgspec.Struct, frozen=True):
    """Where to go on, in the store and in each transcript."""

    store: Place = Place()
    transcripts: dict[str, Offset] = {}
    stamp: str = ""

    def encoded(self) -> str:
        """Return the file's text."""
        latest = dict(list(self.transcripts.items())[-TRANSCRIPTS_MAX:])
        return msgspec.json.encode(_File(VERSION, _Store(*self.store), latest, self.stamp)).decode()


def load(books: Bookkeeping) -> Cursors:
    """Return a project's cursors; at the beginning of everything where there are none.

    Raises SiftdError for a file that cannot be read: to begin again would tell everything twice.
    """
    try:
        file = msgspec.json.decode(read(books.cursors, _BYTES_MAX), type=_File)
    except FileNotFoundError:
        return Cursors()
    except (OSError, msgspec.MsgspecError) as error:
        raise SiftdError(f"{books.cursors} cannot be read", hint="`mem notes init` begins at the present") from error
    if file.version > VERSION:
        raise SiftdError(f"{books.cursors} is of a newer siftd", hint="use that one for notes")
    return Cursors(Place(*msgspec.structs.astuple(file.store)), file.transcripts, file.stamp)
