"""Every handler of one workspace's daemon, found by the kind of request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from siftd.daemon.connection import Answer
from siftd.daemon.handlers.answering import answers, answers_at_length, handlers_of
from siftd.daemon.handlers.documents import DocumentRequests
from siftd.daemon.handlers.erasing import Erasing
from siftd.daemon.handlers.fact_pages import FactPages
from siftd.daemon.handlers.facts import FactRequests
from siftd.daemon.handlers.finding import Finding
from siftd.daemon.handlers.graph import GraphRequests
from siftd.daemon.handlers.knowledge import KnowledgeRequests
from siftd.daemon.handlers.overview import Overview
from siftd.daemon.handlers.pausing import Pausing
from siftd.daemon.handlers.pods import PodRequests
from siftd.daemon.handlers.summarising import Summarising
from siftd.daemon.handlers.team import TeamRequests
from siftd.daemon.handlers.team_sources import TeamSources
from siftd.daemon.handlers.transferring import Transferring
from siftd.daemon.status import info
from siftd.errors import RequestInvalid
from siftd.wire import requests

if TYPE_CHECKING:
    from siftd.daemon.services import Services
    from siftd.search.context_block import Given


class Handlers:
    """Answers requests for one workspace: all but `hello` and `capture`, which do not wait for it.

    It hands each group the services that it uses; what it answers itself is one service's word.
    """

    def __init__(self, services: Services, stop: Callable[[bool], Awaitable[None]]) -> None:
        self._services = services
        self._stop = stop
        self._committer = services.committer
        groups: tuple[object, ...] = (
            self,
            Finding(
                store=services.store,
                searching=services.searching,
                committer=services.committer,
                notes=services.notes,
                team=services.team_items,
            ),
            GraphRequests(
                store=services.store, committer=services.committer, intents=services.intents, clock=services.clock
            ),
            Overview(store=services.store, paths=services.paths, clock=services.clock, team=services.team_items),
            Summarising(
                store=services.store,
                consolidator=services.consolidator,
                backends=services.backends,
                crash_guard=services.storage.crash_guard,
                intents=services.intents,
                clock=services.clock,
                team=services.team_items,
            ),
            Pausing(store=services.store, committer=services.committer, intents=services.intents, clock=services.clock),
            FactRequests(
                writes=services.fact_writes,
                store=services.store,
                committer=services.committer,
                searching=services.searching,
                intents=services.intents,
                redactor=lambda: services.intake.redactor,
                paths=services.paths,
                clock=services.clock,
            ),
            PodRequests(
                access=services.pods,
                store=services.store,
                committer=services.committer,
                intents=services.intents,
                paths=services.paths,
                redactor=lambda: services.intake.redactor,
            ),
            FactPages(
                writes=services.fact_writes,
                store=services.store,
                intents=services.intents,
                workspace=services.workspace,
                paths=services.paths,
                clock=services.clock,
            ),
            Erasing(
                consolidator=services.consolidator,
                forgetter=services.forgetter,
                scrubber=services.scrubber,
                maintenance=services.maintenance,
                intake=services.intake,
                paths=services.paths,
                flags=services.storage.loaded.flags,
                live=services.live,
            ),
            DocumentRequests(
                store=services.store,
                committer=services.committer,
                intents=services.intents,
                intake=services.intake,
                chunker=services.chunker,
                root=services.workspace.root,
                secret=services.storage.secret,
                clock=services.clock,
            ),
            KnowledgeRequests(keeper=services.knowledge, paths=services.paths),
            Transferring(transfer=services.transfer),
            TeamRequests(team=services.team_sync, store=services.store, settings=services.settings),
            TeamSources(
                team=services.team_sync,
                scrub=services.intake.admission.scrub_text,
                goes_on=lambda: not services.consolidator.is_stopping,
            ),
        )
        self.by_kind = {kind: handler for group in groups for kind, handler in handlers_of(group).items()}

    async def answer(self, request: requests.AnyRequest, answer: Answer) -> Mapping[str, object]:
        """Return the fields of the answer; progress goes out before it. Raises SiftdError to refuse."""
        if request.waits_for_log:
            await self._committer.catch_up()
        handler = self.by_kind.get(type(request))
        if handler is None:
            raise RequestInvalid("this kind of request is not for a handler")
        return await (handler.method(request, answer) if handler.takes_answer else handler.method(request))

    @answers(requests.Info)
    async def info(self, _: requests.Info) -> requests.InfoAnswer:
        return await info(self._services)

    @answers(requests.Recall)
    async def recall(self, request: requests.Recall) -> requests.GivenAnswer:
        return _given(await self._services.injector.recall(request))

    @answers(requests.Brief)
    async def brief(self, request: requests.Brief) -> requests.GivenAnswer:
        return _given(await self._services.injector.brief(request))

    @answers_at_length(requests.Sampling)
    async def sampling(self, request: requests.Sampling, answer: Answer) -> requests.SamplingAnswer:
        return await self._services.samplers.offer(request, lambda: answer.is_wanted_now())

    @answers_at_length(requests.Watch)
    async def watch(self, request: requests.Watch, answer: Answer) -> requests.WatchAnswer:
        await self._services.live.watch(request, answer)
        return {}

    @answers(requests.Stop)
    async def stop(self, request: requests.Stop) -> requests.StopAnswer:
        await self._stop(request.hold)
        return {}


def _given(given: Given) -> requests.GivenAnswer:
    return {"text": given.text, "items": given.items, "tokens": given.tokens}
