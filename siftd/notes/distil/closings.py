"""What an agent said of its work at a turn's end, where the words are its own: the cause of a fault, what was done.

Whatever an agent has read in a turn may be what a hostile file had it say. So each sentence is compared with all that
the turn had read (`siftd.search.wording`), and not quoted where that is more than can be looked through.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from siftd.capture.truncate import LEFT_OUT
from siftd.notes.distil import asking
from siftd.notes.distil.material import Repair
from siftd.search.wording import own_sentences
from siftd.store import summaries, turn_summaries
from siftd.store.access import Database
from siftd.store.note_material import EventRow
from siftd.store.payload import find_object, texts_of
from siftd.summarise.extractive.text import one_line, sentences, string
from siftd.summarise.extractive.words import unmarked

Changed = Sequence[tuple[int, int, str]]
"""(event, when, path) of files that a session changed, by time."""
READ_BYTES_MAX = 256 * 1024
_EVENTS_BEFORE = 6
"""Prompts and ends of turns before a turn, among which somebody reported what it mended."""
_CAUSE = re.compile(
    r"\broot cause(?:\W{0,3}:|.{0,20}\bwas\b|\b.{0,10}\bis that\b)"
    r"|\bthe (?:real |actual |underlying )?(?:bug|issue|problem|culprit|cause|key insight) (?:here )?"
    r"(?:was|occurred|happened|came)\b|\b(?:was|were) caused by\b|\bturn(?:s|ed) out that\b",
    re.IGNORECASE,
)
_TRIFLES = re.compile(r"\b(?:imports?|typos?|duplication|lint(?:er|ing)?|gofmt|unused|formatting)\b", re.IGNORECASE)
_CAUSE_CHARS = (50, 320)
CLOSED_CHARS_MAX = 190
_DID = re.compile(
    r"\b(?:now|added|removed|deleted|moved|renamed|replaced|created|updated|fixed|implemented|changed|split|extracted"
    r"|refactored|reverted|merged|bumped)\b(?!.{0,200}…)",
    re.IGNORECASE,
)
_TEST = re.compile(
    r"(?:^|/)(?:tests?|spec|__tests__)/|_test\.\w{1,20}$|(?:^|/)test_[^/]{1,200}$|\.(?:test|spec)\.\w{1,20}$"
)


class Budget:
    """How many more times something that costs may be done."""

    def __init__(self, left: int) -> None:
        self._left = left

    def take(self) -> bool:
        self._left -= 1
        return self._left >= 0


def repairs(connection: Database, events: Sequence[EventRow], changed: Changed, budget: Budget) -> list[Repair]:
    """Return the turns that mended a fault, newest first."""
    found: list[Repair] = []
    ends = [place for place, each in enumerate(events) if each.kind == "turn_end"]
    for before, place in reversed(list(zip([-1, *ends], ends, strict=False))):
        event = events[place]
        since = events[before].ts if before >= 0 else 0
        if event.said_by != "agent" or not any(since < ts <= event.ts for _, ts, _ in changed):
            continue
        closing = _closing(event)
        said = [each for each in _sentences_of(closing) if _CAUSE.search(each) and not _TRIFLES.search(each)]
        if said and budget.take() and (own := _own(connection, event, said[-1], closing)):
            asked = _reported(events[max(0, before - _EVENTS_BEFORE) : place])
            others = _names(path for _, ts, path in changed if since < ts <= event.ts and not _TEST.search(path))
            found.append(Repair(event.id, event.ts, asked, own, others, tests_in(changed, since, event.ts)))
    return found


def closed_with(connection: Database, events: Sequence[EventRow], changed: Changed, budget: Budget) -> str:
    """Return what the agent said that it did, as the last turn that changed something closed."""
    last = max(ts for _, ts, _ in changed)
    event = next((each for each in events if each.kind == "turn_end" and each.ts >= last), None)
    if event is None or event.said_by != "agent" or not budget.take():
        return ""
    closing = _closing(event)
    said = [
        each
        for each in _sentences_of(closing)
        if _DID.search(each) and len(each) <= CLOSED_CHARS_MAX and each[-1] in ".!"
    ]
    said = [each for each in said if not asking.points_back(each)]
    own = sentences(_own(connection, event, " ".join(said[:4]), closing)) if said else []
    return own[0] if own else ""


def _closing(event: EventRow) -> str:
    return string((find_object(event.payload_json) or {}).get("last_assistant_message"))


def _sentences_of(closing: str) -> Iterator[str]:
    for line in unmarked(closing, keep_lines=True).split("\n"):
        for each in sentences(one_line(line)):
            if _CAUSE_CHARS[0] <= len(each) <= _CAUSE_CHARS[1] and each[-1] not in ":?":
                yield each


def _reported(events: Sequence[EventRow]) -> str:
    """Return the last of these prompts that says that something is wrong."""
    for event in reversed(events):
        if is_asked(event) and (said := asking.report_in(prompt_of(event))):
            return said
    return ""


def tests_in(changed: Changed, since: int, upto: int) -> tuple[str, ...]:
    """Return the files of tests that changed after a moment, up to another one, by their own names."""
    return _names(path for _, ts, path in changed if since < ts <= upto and _TEST.search(path))


def _names(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path.rpartition("/")[2] for path in paths))


def _own(connection: Database, event: EventRow, said: str, closing: str) -> str:
    """Return what of a sentence is the agent's own, and nothing that its turn had read."""
    raw = summaries.find_event(connection, event.id)
    read = None if raw is None else turn_summaries.read_before(connection, raw, READ_BYTES_MAX)
    if read is None or any(LEFT_OUT in each for each in read):
        return ""
    texts = [" ".join(texts_of(find_object(each))) for each in read]
    return " ".join(own_sentences(said, closing, texts))


def is_asked(event: EventRow) -> bool:
    """Whether an event is what an agent was asked: a person's words, or those of a prompt in its session's file."""
    return event.kind == "prompt" and event.said_by in ("person", "agent")


def prompt_of(event: EventRow) -> str:
    """Return the text of a prompt."""
    return string((find_object(event.payload_json) or {}).get("prompt"))
