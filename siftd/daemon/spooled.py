"""Taking in what couriers left in the spool while nobody listened."""

from __future__ import annotations

import structlog

from siftd.daemon.stock import Stock
from siftd.errors import SiftdError
from siftd.spool import SpoolFile, iter_spool, readmit
from siftd.store import events

log = structlog.get_logger()


class Spooled:
    """The spool of one workspace, as its daemon takes it in."""

    def __init__(self, stock: Stock) -> None:
        self._stock = stock

    async def take(self) -> None:
        """Take in what couriers spooled; a file goes only after its event is safe in the log."""
        stock = self._stock
        for file in iter_spool(stock.paths.spool):
            if stock.at_work.is_condemned("take", file.path.name):
                self._leave_out(file)
                continue
            try:
                with stock.at_work.on("take", [file.path.name]):
                    event = readmit(file, stock.intake)
                if event is None:
                    reason = str(file.kept.get("reason", "unknown"))
                    await stock.committer.run(lambda c, r=reason: events.count_rejection(c, r, stock.clock.now_ms()))  # type: ignore[misc]
                else:
                    receipt = await stock.committer.keep(event, spooled=True)
                    if receipt.error is not None:
                        log.warning("spool_refused", error=receipt.error.code)
                        return
                    log.info("spool_taken", event_id=receipt.event_id)
            except (SiftdError, KeyError, TypeError, ValueError) as error:
                log.warning("spool_file_unreadable", error=type(error).__name__)
                self._leave_out(file)
            else:
                file.path.unlink(missing_ok=True)

    def _leave_out(self, file: SpoolFile) -> None:
        file.path.rename(file.path.with_suffix(".bad"))
        self._stock.at_work.acquit("take", [file.path.name])
