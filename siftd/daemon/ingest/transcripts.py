"""What agents say between their calls: read from the transcripts that hooks name, when a turn, a subagent or a session
ends, at a compaction, and at each tick for what was written later.

A file that cannot be read costs itself only. After a crash the next hook of a session names its transcript again, and
its cursor says where to go on; what nobody names any more a backfill reads.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import structlog

from siftd.capture.admission import Redacted
from siftd.capture.intake import Intake
from siftd.clients.client import StoredSessions
from siftd.clock import Clock
from siftd.errors import SiftdError
from siftd.store import cursors

if TYPE_CHECKING:
    from siftd.backfill.following import Followed
    from siftd.backfill.following_stored import FollowedDocument
    from siftd.backfill.run import ProgressStore, Receipt

log = structlog.get_logger()

FOLLOWED_MAX = 64
"""Transcripts that are looked at for growth; of more the ones that were named or grew last. Arbitrary."""
SECONDS_MAX = 2.0
"""After which no other file is begun: a tick has more to do. Arbitrary."""


class Transcripts:
    """The transcripts of one workspace's sessions."""

    def __init__(
        self,
        intake: Intake,
        keep: Callable[[Redacted], Awaitable[Receipt]],
        store: ProgressStore,
        clock: Clock,
        secret: bytes,
    ) -> None:
        self._intake = intake
        self._keep = keep
        self._store = store
        self._clock = clock
        self._secret = secret
        self._followed: dict[str, Followed | FollowedDocument] = {}
        """By path; the one that was named or read last is the last."""
        self._lock = anyio.Lock()

    async def read(self) -> int:
        """Keep what the transcripts tell since they were read last; return how many events that were new."""
        async with self._lock:
            new = 0
            await self._take_named()
            deadline = self._clock.monotonic() + SECONDS_MAX
            for path in list(self._followed):
                if self._clock.monotonic() > deadline:
                    break
                try:
                    new += await self._read_one(self._followed[path])
                except OSError as error:
                    del self._followed[path]
                    log.info("transcript_not_read", reason=error.strerror or type(error).__name__)
                except SiftdError as error:  # a full disk, a locked database: whoever names it next has it read again
                    del self._followed[path]
                    log.warning("transcript_not_kept", error=error.code)
            return new

    async def _take_named(self) -> None:
        """Follow what hooks have named since."""
        if not self._intake.named:
            return
        from siftd.backfill.following import Cursor, Followed, may_be_transcript

        while self._intake.named:
            path, (client, session_id) = self._intake.named.popitem()
            known = self._followed.pop(path, None)
            if known is None and may_be_transcript(client, path):
                file = self._key(path)
                cursor = await self._store.read(lambda c, f=file: cursors.find(c, f))  # type: ignore[misc]
                if isinstance(client.files, StoredSessions):
                    from siftd.backfill.following_stored import FollowedDocument

                    known = FollowedDocument(client, client.files, path, session_id, Cursor(*cursor), self._secret)
                else:
                    known = Followed(client, path, session_id, Cursor(*cursor), self._secret)
            if known is not None:
                self._followed[path] = known
        for path in list(self._followed)[:-FOLLOWED_MAX]:
            del self._followed[path]

    async def _read_one(self, followed: Followed | FollowedDocument) -> int:
        if not await asyncio.to_thread(lambda: followed.has_changed):
            return 0
        before, new = followed.cursor, 0
        with contextlib.closing(followed.iter_batches(self._intake)) as batches:
            while (batch := await anyio.to_thread.run_sync(next, batches, None)) is not None:
                for receipt in await asyncio.gather(*(self._keep(event) for event in batch.events)):
                    if receipt.error is not None:
                        raise receipt.error
                    new += not receipt.is_duplicate
        if followed.cursor != before:
            file, now_ms = self._key(followed.path), self._clock.now_ms()
            await self._store.write(lambda c: cursors.put(c, file, *followed.cursor, now_ms))
        self._followed[followed.path] = self._followed.pop(followed.path)  # the others come first the next time
        return new

    def _key(self, path: str) -> str:
        """Return what stands for a path in the store: it may hold a person's name, and needs no reader."""
        return hmac.new(self._secret, path.encode("utf-8", "surrogateescape"), hashlib.sha256).hexdigest()[:32]
