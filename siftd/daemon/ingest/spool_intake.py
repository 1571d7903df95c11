"""Taking in what couriers left in the spool while nobody listened."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from siftd.capture.admission import Redacted
from siftd.daemon.group_commit import Receipt
from siftd.daemon.storage import Storage
from siftd.errors import Faltered, LogError, StoreError, is_transient
from siftd.log.spool import SpoolFile, iter_spool, readmit
from siftd.store import events

log = structlog.get_logger()


class SpoolIntake:
    """The spool of one workspace, as its daemon takes it in."""

    def __init__(self, storage: Storage, keep: Callable[[Redacted], Awaitable[Receipt]]) -> None:
        self._storage = storage
        self._keep = keep

    async def take(self) -> None:
        """Take in what couriers spooled; a file goes only after its event is safe in the log.

        One that is no event is left out, so that it holds up none behind it.
        """
        storage = self._storage
        for file in iter_spool(storage.paths.spool):
            if storage.crash_guard.is_quarantined("take", file.path.name):
                self._leave_out(file)
                continue
            try:
                await self._take_one(file)
            except (LogError, StoreError, Faltered) as error:  # nothing is wrong with the file: it waits
                log.warning("spool_refused", error=error.code)
                return
            except Exception as error:
                if is_transient(error):
                    raise
                log.warning("spool_file_unreadable", error=type(error).__name__)
                self._leave_out(file)
            else:
                file.path.unlink(missing_ok=True)

    async def _take_one(self, file: SpoolFile) -> None:
        storage = self._storage
        with storage.crash_guard.on("take", [file.path.name]):
            event = readmit(file, storage.intake)
        if event is None:
            reason = str(file.values.get("reason", "unknown"))
            await storage.committer.run(lambda c: events.count_rejection(c, reason, storage.clock.now_ms()))
            return
        receipt = await self._keep(event)
        if receipt.error is not None:
            raise receipt.error
        log.info("spool_taken", event_id=receipt.event_id)

    def _leave_out(self, file: SpoolFile) -> None:
        file.path.rename(file.path.with_suffix(".bad"))
        self._storage.crash_guard.clear("take", [file.path.name])
