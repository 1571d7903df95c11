"""Requests that move a whole memory, most of them with progress."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from siftd.daemon.connection import Answer
from siftd.daemon.handlers.answering import answers, answers_at_length
from siftd.daemon.transfer import Transfer
from siftd.wire import requests
from siftd.wire.requests import progress

if TYPE_CHECKING:
    from siftd.backfill.result import BackfillResult


class Transferring:
    """Answers for `Transfer`."""

    def __init__(
        self,
        *,
        transfer: Transfer,
    ) -> None:
        self._transfer = transfer

    @answers(requests.Backup)
    async def backup(self, request: requests.Backup) -> requests.BackupAnswer:
        return await self._transfer.backup(request.path)

    @answers_at_length(requests.Export)
    async def export(self, request: requests.Export, answer: Answer) -> requests.ExportAnswer:
        loop = asyncio.get_running_loop()

        def on_progress(done: int, total: int) -> None:  # called in the thread that writes
            loop.call_soon_threadsafe(answer.progress, progress(done=done, total=total))

        return {"path": request.path, "counts": await self._transfer.export(request.path, on_progress)}

    @answers_at_length(requests.Import)
    async def import_file(self, request: requests.Import, answer: Answer) -> requests.ImportAnswer:
        def on_progress(done: int, total: int) -> None:
            answer.progress(progress(done=done, total=total))

        return (await self._transfer.import_file(request, on_progress)).as_json()

    @answers_at_length(requests.Backfill)
    async def backfill(self, request: requests.Backfill, answer: Answer) -> requests.BackfillAnswer:
        async def on_progress(done: int, total: int, result: BackfillResult) -> None:
            answer.progress(progress(done=done, total=total, **result.as_json()))

        return (await self._transfer.backfill(request, on_progress)).as_json()
