"""What an agent would have been given, had siftd been there: recorded sessions replayed in order of time, the clock turned.

A chain is one person's sessions in one repository, 30 or more. At each session's start the store holds what had ended
by then, and a brief is made; at each prompt, recall. Both are asked of the daemon's own parts in this process, on the
branch that the session was on, and what was given is noted in the ledger, as the daemon does. The last chain by lot is
the unseen one. `--read FOLDER` writes what is to be judged beside what the session then did; the verdicts that there are
(tests/data/judged says by which rules) are counted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import judged
import structlog
from eval_summaries import KEY
from replay_report import Chain, Gift, Moment, report, write_reading
from retrieval_sets import load

from siftd.config import Settings
from siftd.daemon.services import Services
from siftd.daemon.storage import Storage
from siftd.search.brief import brief
from siftd.search.context_block import Given
from siftd.search.recall import recall
from siftd.store import injection_ledger
from siftd.store.access import Database
from siftd.store.injection_ledger import Injection
from siftd.store.payload import branch_of
from siftd.wire.requests import Backfill
from siftd.workspace.home import LoadedSettings, ensure_workspace
from siftd.workspace.identity import Workspace
from siftd.workspace.paths import Home

SETS = ("agent-sessions", "agent-sessions-2")
SESSIONS_MIN = 30
OFF_TOPIC = 100
_WORKTREE = re.compile(r"/\.worktrees(?:/.*)?$|/\.claude/worktrees(?:/.*)?$")
_MOMENTS = """
SELECT session_id, ts, kind, json_extract(payload_json, '$.prompt'), substr(payload_json, 1, 300) FROM events
WHERE json_valid(payload_json) ORDER BY ts, id
"""


class TurnedClock:
    """Stands where the replay is."""

    def __init__(self) -> None:
        self.ms = 0

    def now_ms(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000


@dataclass
class Replayed:
    """One workspace in a folder of its own."""

    folder: str
    clock: TurnedClock = field(default_factory=TurnedClock)

    async def __aenter__(self) -> Replayed:
        home = Home(self.folder).for_workspace(KEY)
        ensure_workspace(home)
        self.database = home.database
        self.storage = Storage(Workspace(self.folder, KEY), home, LoadedSettings(Settings()), self.clock)
        self.services = Services(self.storage, bool)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.services.close()
        await self.storage.close()

    async def take(self, paths: Sequence[Path]) -> None:
        """Read transcripts, tell and embed them."""
        await self.services.transfer.backfill(
            Backfill(paths=[str(each.resolve()) for each in paths], any_workspace=True, own=True), _nobody
        )
        await self.services.consolidator.drain(None, _nobody)

    async def given(self, moment: Moment) -> Given:
        """Return what a session is given at a moment, and note it."""
        self.clock.ms = max(self.clock.ms, moment.ts)
        session = moment.session_id
        settings = self.storage.settings

        def read(connection: Database) -> Given:
            state = injection_ledger.session_state(connection, session)
            if moment.is_start:
                budget = settings.recall_brief_tokens
                return brief(
                    connection,
                    moment.ts,
                    max_tokens=budget,
                    asker=self.services.pods.asker(session),
                    session_id=session,
                    state=state,
                    branch=moment.branch,
                )
            engine, budget = self.services.searching.engine(connection), settings.recall_max_tokens
            return recall(
                engine,
                connection,
                moment.prompt,
                max_tokens=budget,
                session_id=session,
                state=state,
                branch=moment.branch,
            )

        given = await self.services.store.read(read)
        pieces = [Injection(each.id, each.event_id, each.why) for each in given.pieces]
        hook = "SessionStart" if moment.is_start else "UserPromptSubmit"
        await self.services.store.write(
            lambda connection: injection_ledger.insert(connection, session, hook, pieces, moment.ts)
        )
        return given


async def _nobody(*_: Any) -> None:
    """Report to nobody."""


def find_chains(folder: Path, unpacked: Path, sessions_min: int = SESSIONS_MIN) -> list[Chain]:
    """Return the chains of the recorded sets in the order of the lot; the last is the unseen one."""
    found: dict[tuple[str, str], dict[str, Path]] = defaultdict(dict)
    for name in SETS:
        dataset = load((folder / name).resolve(), unpacked)
        assert dataset.transcripts is not None
        for scope, documents in dataset.documents.items():
            for each in documents:
                if each["agent"] == "claude" and each.get("cwd"):
                    root = _WORKTREE.sub("", each["cwd"])
                    found[scope, root][each["_id"]] = dataset.transcripts / each["transcript"]
    chains = [Chain(judged.lot(*who)[:4], who[0], paths) for who, paths in found.items() if len(paths) >= sessions_min]
    return sorted(chains, key=lambda chain: chain.name)


async def replay(chain: Chain, off_topic: Sequence[str]) -> None:
    """Fill in what each moment of the chain was given, and how many of other prompts were given anything."""
    with tempfile.TemporaryDirectory(prefix="siftd-replay-") as folder:
        async with Replayed(folder) as everything:
            await everything.take(list(chain.paths.values()))
            connection = Database(sqlite3.connect(everything.database))
            chain.take_moments(connection.execute(_MOMENTS).fetchall(), branch_of)
            chain.take_deeds(connection)
            connection.close()
    for session_id, path in chain.paths.items():  # a file that is not touched any more is read to its end
        os.utime(path, (0, chain.ended.get(session_id, 0) / 1000 - 3600))
    with tempfile.TemporaryDirectory(prefix="siftd-replay-") as folder:
        async with Replayed(folder) as then:
            waiting = sorted(chain.ended, key=lambda session: chain.ended[session])
            for moment in sorted(chain.moments, key=lambda moment: (moment.ts, not moment.is_start)):
                over = [each for each in waiting if chain.ended[each] < moment.ts]
                if over:
                    waiting = waiting[len(over) :]
                    then.clock.ms = max(then.clock.ms, chain.ended[over[-1]] + 1)
                    await then.take([chain.paths[each] for each in over if each in chain.paths])
                given = await then.given(moment)
                moment.tokens = given.tokens
                moment.gifts = [Gift.of(moment, piece) for piece in given.pieces]
            for number, prompt in enumerate(off_topic):
                asked = Moment(f"off{number}", then.clock.ms, prompt, None)
                given = await then.given(asked)
                chain.off_topic += bool(given.pieces)
                chain.off_topic_asked += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the recorded sets are")
    parser.add_argument("--read", type=Path, help="write here what is to be judged")
    parser.add_argument("--chain", action="append", help="only these chains, by name")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    with tempfile.TemporaryDirectory(prefix="siftd-replay-") as unpacked:
        chains = find_chains(options.folder, Path(unpacked))
        for at, chain in enumerate(chains):
            if options.chain and chain.name not in options.chain:
                continue
            others = [path for each in chains if each.scope != chain.scope for path in each.paths.values()]
            asyncio.run(replay(chain, typed_in(others)))
            print(*report(chain, judged.read("replayed.jsonl"), is_unseen=at == len(chains) - 1), sep="\n")
            if options.read:
                write_reading(chain, options.read)


def typed_in(paths: Sequence[Path]) -> list[str]:
    """Return prompts of other repositories, by lot."""
    prompts: dict[str, str] = {}
    for path in paths:
        for line in path.read_bytes().splitlines():
            if b'"type":"user"' not in line or b'"tool_result"' in line:
                continue
            try:
                content = json.loads(line)["message"]["content"]
            except (ValueError, KeyError, TypeError):
                continue
            if isinstance(content, str) and content[:1] not in ("<", "/", "[", "") and len(content) < 2_000:
                prompts[judged.lot(content)] = content
    return [prompts[key] for key in sorted(prompts)[:OFF_TOPIC]]


if __name__ == "__main__":
    main()
