"""What a replayed chain was given: as it is judged by reading, and what the verdicts come to."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import judged

from siftd.search.context_block import Piece, estimate_tokens

_IDS = re.compile(r"\b[se]\d+\b")
_SAID_CHARS = 300
_DEED_CHARS = 420
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Gift:
    """One piece that was given."""

    key: str
    text: str
    line: str
    kind: str

    @classmethod
    def of(cls, moment: Moment, piece: Piece) -> Gift:
        """The key is of the moment and what the piece says, without ids, which change from store to store."""
        said = _IDS.sub("#", piece.text)
        kind = str(piece.why.get("section") or piece.text.partition(":")[0][:24])
        return cls(judged.lot(moment.key, said), judged.hash_of(said), piece.line, kind)


@dataclass
class Moment:
    """A start or a prompt of a session, and what was given there."""

    session_id: str
    ts: int
    prompt: str
    branch: str | None
    is_start: bool = False
    number: int = 0
    gifts: list[Gift] = field(default_factory=list)
    tokens: int = 0

    @property
    def key(self) -> str:
        return judged.lot(self.session_id, self.number)


@dataclass
class Chain:
    """One person's sessions in one repository."""

    name: str
    scope: str
    paths: dict[str, Path]
    moments: list[Moment] = field(default_factory=list)
    ended: dict[str, int] = field(default_factory=dict)
    deeds: dict[str, str] = field(default_factory=dict)
    off_topic: int = 0
    off_topic_asked: int = 0

    def take_moments(self, rows: Sequence[tuple[Any, ...]], branch_of: Callable[[str], str | None]) -> None:
        """Take in the events of all sessions, in order of time: (session, time, kind, prompt, beginning)."""
        numbers: Counter[str] = Counter()
        for session, ts, kind, prompt, head in rows:
            if session not in self.ended:
                self.moments.append(Moment(session, ts, "", branch_of(head), is_start=True))
            self.ended[session] = ts
            if kind == "prompt" and isinstance(prompt, str):
                numbers[session] += 1
                self.moments.append(Moment(session, ts, prompt, branch_of(head), number=numbers[session]))

    def take_deeds(self, connection: sqlite3.Connection) -> None:
        """Note what each session did: who judges what it was given must know."""
        told: dict[str, list[str]] = defaultdict(list)
        rows = connection.execute(
            "SELECT e.session_id, s.text FROM events e JOIN summaries s ON s.event_id = e.id AND s.scope = 'turn' ORDER BY e.id"
        )
        for session, text in rows:
            told[session].append(text[:_DEED_CHARS])
        self.deeds = {
            session: "\n   ".join(each[:5] + (["…"] if len(each) > 5 else [])) for session, each in told.items()
        }


def report(chain: Chain, rows: dict[str, Row], *, is_unseen: bool) -> Iterator[str]:
    """Yield what was given and what the verdicts come to."""
    yield f"\nchain {chain.name} of {chain.scope}, {len(chain.ended)} sessions{', unseen' if is_unseen else ''}"
    for name, is_start in (("brief", True), ("recall", False)):
        moments = [each for each in chain.moments if each.is_start == is_start]
        given = [each for each in moments if each.gifts]
        gifts = [(each, gift) for each in given for gift in each.gifts]
        verdicts = Counter(rows[gift.key]["verdict"] for _, gift in gifts if gift.key in rows)
        judged_moments = [each for each in given if all(gift.key in rows for gift in each.gifts)]
        tokens = sum(each.tokens for each in judged_moments)
        useful = sum(rows[gift.key]["verdict"] == "U" for each in judged_moments for gift in each.gifts)
        share = f"{verdicts['U'] / verdicts.total():.2f}" if verdicts else "-"
        yield (
            f"{name:<7} {len(given)} of {len(moments)} moments, {len(gifts)} pieces, {sum(e.tokens for e in given)} tokens;"
            f" judged {verdicts.total()}: useful {share} ({dict(verdicts)}),"
            f" {tokens / useful if useful else float('inf'):.0f} tokens a useful piece"
        )
        kinds: dict[str, Counter[str]] = defaultdict(Counter)
        for _, gift in gifts:
            kinds[gift.kind][rows[gift.key]["verdict"] if gift.key in rows else "?"] += 1
        for kind, counts in sorted(kinds.items()):
            yield f"    {kind}: {dict(counts)}"
    starts = [each for each in chain.moments if each.is_start]
    wanted = [each for each in starts if rows.get(f"start {each.key}", {}).get("verdict") == "to tell"]
    told = sum(any(rows.get(gift.key, {}).get("verdict") == "U" for gift in each.gifts) for each in wanted)
    yield f"starts with something to tell: {len(wanted)}, told {told} ({told / max(1, len(wanted)):.2f})"
    if chain.off_topic_asked:
        yield f"off-topic prompts given anything: {chain.off_topic} of {chain.off_topic_asked}"


def write_reading(chain: Chain, folder: Path) -> None:
    """Write what was given, by session, with what the session then did, and what earlier sessions had."""
    folder.mkdir(exist_ok=True)
    by_session: dict[str, list[Moment]] = defaultdict(list)
    for moment in chain.moments:
        by_session[moment.session_id].append(moment)
    lines: list[str] = []
    for session, moments in by_session.items():
        start, *prompts = sorted(moments, key=lambda each: (not each.is_start, each.ts))
        lines.append(f"\n##### {start.key} branch {start.branch}; did:\n   {chain.deeds.get(session, '(nothing)')}")
        lines += [f"  B {gift.key} {gift.line}" for gift in start.gifts]
        for moment in prompts:
            if moment.gifts:
                lines.append(f" P{moment.number} {' '.join(moment.prompt[:_SAID_CHARS].split())}")
                lines += [f"  R {gift.key} {gift.line}" for gift in moment.gifts]
    (folder / f"{chain.name}.txt").write_text("\n".join(lines), encoding="utf-8")
    rows = [
        {"key": gift.key, "start": moment.is_start, "tokens": estimate_tokens(gift.line)}
        for moment in chain.moments
        for gift in moment.gifts
    ]
    (folder / f"{chain.name}.json").write_text(json.dumps(rows))
