"""Telling the team what another program has exported: issues, comments, jobs, from a file, in batches.

What was taken is taken: a batch is one transaction of the server, and telling the same again changes nothing. So an
import that ends early, because the network went or somebody stopped it, says how far it came, and the same command
takes up the rest. What the replica has already, as the very same item, is not sent a second time.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO

import anyio
import msgspec

from siftd.embed.words import further_words
from siftd.errors import RequestInvalid
from siftd.store.team_links import TeamLink
from siftd.team.items import Forget, Put
from siftd.team.protocol import ITEMS_MAX, Members, Push
from siftd.team.sources.line import Line, LineSource
from siftd.team.sources.pieces import Scrub, items_of
from siftd.team.sources.reading import Form, Problem, read
from siftd.team_sync.client import TeamClient
from siftd.team_sync.errors import TeamAway, TeamError, TeamOtherEpoch, TeamTooLarge

LINES_AT_ONCE = 100
"""Read, redacted and cut in one go; then sent."""
BATCH_BYTES = 3 * 1024 * 1024
"""Of the items of one push; the message may have 4 MB."""
RESTS_MAX = 20
"""How often in a row a server may ask for patience."""
REST_SECONDS_MAX = 90.0
SHOWN_MAX = 20
"""Items that a rehearsal shows."""


@dataclass(frozen=True)
class SourceFile:
    """What is read: a file, open, of one source."""

    file: BinaryIO
    name: str
    changed_ms: int
    source: LineSource
    form: Form


class Known:
    """What the team has already: as the replica knows it, and as this import has sent it since."""

    def __init__(
        self,
        count_pieces: Callable[[str, str], Awaitable[int]],
        find_hashes: Callable[[Iterable[str]], Awaitable[dict[str, tuple[int, str]]]],
    ) -> None:
        self.find_hashes = find_hashes
        """Returns (rev, hash) by id."""
        self._count_pieces = count_pieces
        self._sent: dict[tuple[str, str], int] = {}

    async def count_pieces(self, line: Line) -> int:
        """Return in how many pieces the team has a line; 0 where it has none."""
        sent = self._sent.get((line.source, line.ref), 0)
        return max(sent, await self._count_pieces(line.source, line.ref))

    def note(self, line: Line, pieces: int) -> None:
        """Note in how many pieces a line was sent; one that is whole need not be remembered."""
        if pieces > 1:
            self._sent[line.source, line.ref] = pieces


@dataclass
class SourceResult:
    """What became of a file."""

    lines: int = 0
    """Issues, comments or jobs that were read, and are done with."""
    put: int = 0
    forgotten: int = 0
    unchanged: int = 0
    """Items that the team had already, as they are or later."""
    refused: Counter[str] = field(default_factory=Counter)
    """Items that the server did not take, by the reason."""
    errors: int = 0
    first_error: str | None = None
    problem: str | None = None
    """Why it ended before the file did."""
    shown: list[Any] = field(default_factory=list)

    def note(self, problem: Problem) -> None:
        self.errors += 1
        self.first_error = self.first_error or f"no. {problem.number}: {problem.reason.replace('_', ' ')}"


async def rehearse(given: SourceFile, link: TeamLink, scrub: Scrub, known: Known) -> SourceResult:
    """Return what would be sent, and the first of it word for word; nothing is."""
    result = SourceResult()
    lines = iter(read(given.file, given.source, given.form, given.name, given.changed_ms))
    while batch := await asyncio.to_thread(lambda: list(islice(lines, LINES_AT_ONCE))):
        items = await _items(batch, link, scrub, known, result)
        fresh = await _unknown(items, known, result)
        result.put += sum(isinstance(each, Put) for each in fresh)
        result.forgotten += sum(isinstance(each, Forget) for each in fresh)
        room = SHOWN_MAX - len(result.shown)
        result.shown += [msgspec.to_builtins(each) for each in fresh[:room]]
        result.lines += sum(isinstance(each, Line) for each in batch)
    return result


class SourceImport:
    """One import into one team."""

    def __init__(
        self,
        client: TeamClient,
        link: TeamLink,
        scrub: Scrub,
        known: Known,
        *,
        on_progress: Callable[[int], object],
        goes_on: Callable[[], bool],
    ) -> None:
        """`on_progress` is told how many bytes of the file are done with."""
        self._client = client
        self._link = link
        self._scrub = scrub
        self._known = known
        self._on_progress = on_progress
        self._goes_on = goes_on
        self.result = SourceResult()

    async def run(self, given: SourceFile) -> SourceResult:
        """Tell all that a file holds. Raises RequestInvalid where the project does not take the source, or nothing of
        this person; TeamError where the server is not there to begin with."""
        check(await self._client.members(self._link.project), self._link, given.source)
        given.file.seek(0)
        lines = iter(read(given.file, given.source, given.form, given.name, given.changed_ms))
        while batch := await asyncio.to_thread(lambda: list(islice(lines, LINES_AT_ONCE))):
            items = await _items(batch, self._link, self._scrub, self._known, self.result)
            try:
                await self._send(await _unknown(items, self._known, self.result))
            except TeamOtherEpoch:
                raise  # everything is pulled first, and then the whole file is told again
            except TeamError as error:
                self.result.problem = error.message
                return self.result
            self.result.lines += sum(isinstance(each, Line) for each in batch)
            self._on_progress(given.file.tell())
            if not self._goes_on():
                self.result.problem = "the daemon was stopped"
                return self.result
        return self.result

    async def _send(self, items: Sequence[Put | Forget]) -> None:
        for batch in batches(items):
            await self._push(batch)

    async def _push(self, batch: Sequence[Put | Forget]) -> None:
        """Send a batch, in halves where it is too large, and wait as long as the server asks for, within reason."""
        for _ in range(RESTS_MAX):
            try:
                pushed = await self._client.push(
                    self._link.project, Push(epoch=uuid.UUID(self._link.epoch), items=list(batch))
                )
            except TeamTooLarge:
                if len(batch) == 1:
                    self.result.refused["too large"] += 1
                    return
                half = len(batch) // 2
                await self._push(batch[:half])
                await self._push(batch[half:])
                return
            except TeamAway as error:
                if error.after_seconds is None:
                    raise
                await anyio.sleep(min(error.after_seconds, REST_SECONDS_MAX))
            else:
                self.result.put += pushed.put
                self.result.forgotten += pushed.forgotten
                older = sum(each.why == "older" for each in pushed.ignored)
                self.result.refused.update(each.why for each in pushed.ignored if each.why != "older")
                self.result.unchanged += older + len(batch) - pushed.put - pushed.forgotten - len(pushed.ignored)
                return
        raise TeamAway("the team's server asks for patience again and again")


def check(members: Members, link: TeamLink, source: str) -> None:
    """Raise RequestInvalid with the remedy where the server would take nothing of this import."""
    if source not in members.project.sources:
        raise RequestInvalid(
            f"{members.project.name} takes no {source}s",
            hint=f"whoever runs the server says `siftd team sources {members.project.name} --on {source}`",
        )
    role = next((each.role for each in members.members if str(each.person.id) == link.person), None)
    if role == "reader":
        raise RequestInvalid("you may read this team's memory, and not add to it", hint="ask for a writer's invitation")


def batches(items: Iterable[Put | Forget]) -> Iterator[list[Put | Forget]]:
    """Yield items in as few messages as any server takes."""
    batch: list[Put | Forget] = []
    size = 0
    for item in items:
        its_size = len(msgspec.json.encode(item))
        if batch and (len(batch) == ITEMS_MAX or size + its_size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += its_size
    if batch:
        yield batch


async def _items(
    found: Iterable[Line | Problem], link: TeamLink, scrub: Scrub, known: Known, result: SourceResult
) -> list[Put | Forget]:
    """Return the items of lines, each id once, with what was told last of it; problems are counted."""
    latest: dict[uuid.UUID, Put | Forget] = {}
    newest: dict[tuple[str, str], Line] = {}
    project = uuid.UUID(link.project)
    for each in found:
        if isinstance(each, Problem):
            result.note(each)
            continue
        before = newest.get((each.source, each.ref))
        if before is not None and (before.deleted or before.updated_ms > each.updated_ms):
            result.unchanged += 1  # else its further pieces would stay beside what is shorter, or gone
            continue
        newest[each.source, each.ref] = each
        pieces = await known.count_pieces(each)
        items = await asyncio.to_thread(items_of, each, project, scrub, further_words, pieces)
        known.note(each, len(items))
        latest.update((item.id, item) for item in items)
    return list(latest.values())


async def _unknown(items: Sequence[Put | Forget], known: Known, result: SourceResult) -> list[Put | Forget]:
    """Return the items that the replica has not, as they are."""
    has = await known.find_hashes([str(each.id) for each in items if isinstance(each, Put)])
    fresh = [each for each in items if not isinstance(each, Put) or has.get(str(each.id)) != (each.rev, each.hash)]
    result.unchanged += len(items) - len(fresh)
    return fresh
