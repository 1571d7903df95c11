"""Requests that erase: forget, scrub, prune."""

from __future__ import annotations

from collections.abc import Sequence

from siftd.capture.intake import Intake
from siftd.consolidate.consolidator import CHUNK, HIDE, NOTES, Consolidator
from siftd.daemon.erasure.forget import Forgetter
from siftd.daemon.erasure.scrub import Scrubber
from siftd.daemon.handlers.answering import answers
from siftd.daemon.live import Live
from siftd.daemon.maintenance import Maintenance
from siftd.daemon.saved_brief import drop_briefs_that_quote
from siftd.errors import RequestInvalid
from siftd.wire import requests
from siftd.workspace.home import load_settings
from siftd.workspace.paths import WorkspacePaths


class Erasing:
    """Erases while the consolidator waits, so that nothing is read that is about to go."""

    def __init__(
        self,
        *,
        consolidator: Consolidator,
        forgetter: Forgetter,
        scrubber: Scrubber,
        maintenance: Maintenance,
        intake: Intake,
        paths: WorkspacePaths,
        flags: Sequence[str],
        live: Live,
    ) -> None:
        self._consolidator = consolidator
        self._forgetter = forgetter
        self._scrubber = scrubber
        self._maintenance = maintenance
        self._intake = intake
        self._paths = paths
        self._flags = flags
        self._live = live

    @answers(requests.Forget)
    async def forget(self, request: requests.Forget) -> requests.ForgetAnswer:
        """Forget what a person wants forgotten, or say what that would be."""
        answer = await self._consolidator.alone(lambda: self._forgetter.forget(request))
        if not request.dry_run:
            drop_briefs_that_quote(self._paths)
            self._live.note_forgotten(answer["matched"], answer["byKind"])
            await self._consolidator.do(NOTES)
        return answer

    @answers(requests.Scrub)
    async def scrub(self, request: requests.Scrub) -> requests.ScrubAnswer:
        """Apply the rules of the configuration as it is now to everything stored, and to what comes from now on."""
        loaded = load_settings(self._paths.home, self._flags)
        if loaded.problem:
            raise RequestInvalid("the configuration cannot be used as it is", hint=loaded.problem)
        self._intake.take_rules(loaded.settings)
        answer = await self._consolidator.alone(lambda: self._scrubber.scrub(dry_run=request.dry_run))
        if not request.dry_run:
            await self._consolidator.do(NOTES)
            await self._consolidator.do(CHUNK)
        await self._consolidator.do(HIDE)  # today's rules may have found by its name what stands bare elsewhere
        return answer

    @answers(requests.Prune)
    async def prune(self, request: requests.Prune) -> requests.PruneAnswer:  # noqa: ARG002 - it has no fields
        """Forget what the configuration says is too old."""
        events_pruned = await self._consolidator.alone(self._forgetter.prune)
        self._live.note_forgotten(events_pruned, {})
        segments_pruned = await self._consolidator.alone(self._maintenance.prune_log)
        held = await self._forgetter.count_held()
        return {"events": events_pruned, "segments": segments_pruned, "held": held, "pending": self._forgetter.pending}
