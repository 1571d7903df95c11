"""The request that gives the team what an issue tracker or CI has exported."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from siftd.daemon.connection import Answer
from siftd.daemon.handlers.answering import answers_at_length
from siftd.errors import RequestInvalid
from siftd.exchange.run import open_file
from siftd.wire import requests
from siftd.wire.requests import progress

if TYPE_CHECKING:
    from siftd.team.sources.pieces import Scrub
    from siftd.team_sync.source_import import SourceResult
    from siftd.team_sync.sync import TeamSync


class TeamSources:
    """Reads a file for the team."""

    def __init__(self, *, team: TeamSync, scrub: Scrub, goes_on: Callable[[], bool]) -> None:
        self._team = team
        self._scrub = scrub
        self._goes_on = goes_on

    @answers_at_length(requests.ImportSource)
    async def import_source(self, request: requests.ImportSource, answer: Answer) -> requests.ImportSourceAnswer:
        # Every daemon would read in what few ever ask for.
        from siftd.team.sources.line import LINE_SOURCES
        from siftd.team.sources.reading import Form
        from siftd.team_sync.source_import import Known, SourceFile, SourceImport, rehearse

        if request.source not in LINE_SOURCES or request.form not in get_args(Form):
            raise RequestInvalid("this is no source, or nobody who exports it", hint="`mem import --help` lists them")
        team = await self._team.require()
        file = await asyncio.to_thread(open_file, request.path)
        with closing(file):
            status = os.fstat(file.fileno())
            given = SourceFile(
                file=file,
                name=Path(request.path).name,
                changed_ms=int(status.st_mtime * 1000),
                source=request.source,
                form=request.form,  # type: ignore[arg-type]  # looked at above
            )
            replica = self._team.replica
            known = Known(replica.count_pieces, replica.find_hashes)
            if request.dry_run:
                return _answer(team.name, await rehearse(given, team, self._scrub, known))

            def on_progress(done: int) -> None:
                answer.progress(progress(done=done, total=status.st_size))

            result = await self._team.do(
                lambda client, link: SourceImport(
                    client, link, self._scrub, known, on_progress=on_progress, goes_on=self._goes_on
                ).run(given)
            )
        return _answer(team.name, result)


def _answer(team: str, result: SourceResult) -> requests.ImportSourceAnswer:
    return {
        "team": team,
        "lines": result.lines,
        "put": result.put,
        "forgotten": result.forgotten,
        "unchanged": result.unchanged,
        "refused": dict(result.refused),
        "errors": result.errors,
        "firstError": result.first_error,
        "problem": result.problem,
        "shown": result.shown,
    }
