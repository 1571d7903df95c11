"""Requests about the snapshot of the codebase."""

from __future__ import annotations

from siftd.daemon.handlers.answering import answers
from siftd.daemon.knowledge import KnowledgeKeeper
from siftd.errors import RequestInvalid
from siftd.wire import requests
from siftd.workspace.paths import GLOBAL, WorkspacePaths


class KnowledgeRequests:
    """Answers from the file and the store, and keeps what a client has built."""

    def __init__(self, *, keeper: KnowledgeKeeper, paths: WorkspacePaths) -> None:
        self._keeper = keeper
        self._paths = paths

    @answers(requests.Knowledge)
    async def knowledge(self, _: requests.Knowledge) -> requests.KnowledgeAnswer:
        return await self._keeper.read()

    @answers(requests.KnowledgeSeen)
    async def knowledge_seen(self, request: requests.KnowledgeSeen) -> requests.KnowledgeSeenAnswer:
        return await self._keeper.seen(request.root)

    @answers(requests.KeepKnowledge)
    async def keep_knowledge(self, request: requests.KeepKnowledge) -> requests.KeepKnowledgeAnswer:
        if self._paths.key == GLOBAL:
            raise RequestInvalid("what holds in every project has no codebase", hint="go to a project's folder")
        return await self._keeper.keep(request.snapshot, prose=request.prose)
