"""Files that are changed together, and where the tests of a folder's modules live: learnt from changes that were made.

A set is what one session changed up to a commit. A set of many files is a mass edit and says nothing; merges and pulls
change files without a change of an agent's, and are no sets at all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from siftd.facts.model import TEXT_CHARS_MAX, Candidate

SET_FILES_MAX = 12
DAYS_MIN = 3
"""On which two files were changed together. What one feature touched for a day, in however many sessions, is done with
when the feature is: of eight such pairs on a recorded page its maintainer would have signed none."""
CONFIDENCE_MIN = 0.6
"""Of the sets that hold either of them."""
PAIRS_MAX = 40
TEST_PAIRS_MIN = 3
TEST_SHARE_MIN = 0.7
_SOURCES_MAX = 8
_DAY_MS = 86_400_000
_PATH_CHARS_MAX = 90
_TEST_FOLDERS = frozenset(("test", "tests", "spec", "specs", "__tests__"))


class ChangeSet(NamedTuple):
    """What one session changed up to a commit."""

    session_id: str
    ts: int
    changes: dict[str, int]
    """By path below the root: the last event that changed it."""


def together(sets: Sequence[ChangeSet]) -> list[Candidate]:
    """Return the pairs of files that are changed together, the surest first."""
    alone: Counter[str] = Counter()
    pairs: defaultdict[tuple[str, str], list[ChangeSet]] = defaultdict(list)
    for each in sets:
        paths = sorted(path for path in each.changes if _is_fit(path))
        if not 0 < len(each.changes) <= SET_FILES_MAX:
            continue
        alone.update(paths)
        for at, path in enumerate(paths):
            for other in paths[at + 1 :]:
                pairs[path, other].append(each)
    found: list[tuple[float, int, Candidate]] = []
    for (one, other), theirs in pairs.items():
        either = alone[one] + alone[other] - len(theirs)
        confidence = len(theirs) / either
        text = f"{one} and {other} are changed together"
        days = {each.ts // _DAY_MS for each in theirs}
        if len(days) < DAYS_MIN or confidence < CONFIDENCE_MIN or len(text) > TEXT_CHARS_MAX:
            continue
        if is_test_of(other, one) or is_test_of(one, other):
            continue  # that is told once for a folder
        sources = [event for each in theirs[-_SOURCES_MAX // 2 :] for event in (each.changes[one], each.changes[other])]
        candidate = _candidate(text, f"files:{one}", confidence, sources, theirs[0].ts)
        found.append((confidence, len(theirs), candidate))
    found.sort(key=lambda each: (each[0], each[1], each[2].text), reverse=True)
    first_of: dict[str | None, Candidate] = {}
    for _, _, candidate in found:
        first_of.setdefault(candidate.topic, candidate)
    return list(first_of.values())[:PAIRS_MAX]


def tests_live(sets: Sequence[ChangeSet]) -> list[Candidate]:
    """Return where the tests of a folder's modules live, of what one session changed together with its test."""
    places: defaultdict[str, dict[str, tuple[str, int, int, int]]] = defaultdict(dict)
    for each in sets:
        for test, test_event in each.changes.items():
            if stem_tested(test) is None or not _is_fit(test):
                continue
            for path, event in each.changes.items():
                if is_test_of(test, path) and _is_fit(path):
                    places[_top(path)][path] = (_form(test, path), event, test_event, each.ts)
    found: list[Candidate] = []
    for top, theirs in sorted(places.items()):
        form, number = Counter(form for form, *_ in theirs.values()).most_common(1)[0]
        if number < TEST_PAIRS_MIN or number < TEST_SHARE_MIN * len(theirs):
            continue
        mine = [row for row in theirs.values() if row[0] == form][-_SOURCES_MAX // 2 :]
        sources = [event for row in mine for event in row[1:3]]
        where = f"in {top}" if top else "at the top"
        text = f"The tests of a module {where} are in {form}"
        if len(text) <= TEXT_CHARS_MAX:
            first = min(row[3] for row in mine)
            found.append(_candidate(text, f"tests:{top}", number / len(theirs), sources, first))
    return found


def stem_tested(path: str) -> str | None:
    """Return the name of the module that a test's file is named for; None for a file that is no test by its name."""
    name = path.rpartition("/")[2]
    stem, dot, ending = name.partition(".")
    if not dot:
        return None
    first = ending.split(".")[0]
    if first in ("test", "spec") and "." in ending:
        return stem
    if stem.startswith("test_"):
        return stem[5:] or None
    for end in ("_test", "_spec", "Test", "Tests", "Spec"):
        if stem.endswith(end) and len(stem) > len(end):
            return stem[: -len(end)]
    if any(each in _TEST_FOLDERS for each in path.split("/")[:-1]):
        return stem
    return None


def is_test_of(test: str, path: str) -> bool:
    """Whether a file is the test of a module, by both names."""
    if test == path or stem_tested(path) is not None:
        return False
    stem = path.rpartition("/")[2].partition(".")[0]
    ending, other = path.rpartition(".")[2], test.rpartition(".")[2]
    return stem_tested(test) == stem and stem != "" and (ending[:2] == other[:2])


def _form(test: str, path: str) -> str:
    """Return where a test lies, its module's name left out: "tests/unit/test_*.py", "*_test.go beside it"."""
    stem = path.rpartition("/")[2].partition(".")[0]
    folder, _, name = test.rpartition("/")
    named = name.replace(stem, "*", 1)
    if folder == path.rpartition("/")[0]:
        return f"{named} beside it"
    return f"{folder}/{named}" if folder else named


def _top(path: str) -> str:
    """Return the folder that is told of: of a deep one its first two names."""
    folder = path.rpartition("/")[0]
    return "/".join(folder.split("/")[:2])


def _is_fit(path: str) -> bool:
    return bool(path) and len(path) <= _PATH_CHARS_MAX and path.isprintable() and "REDACTED" not in path


def _candidate(text: str, topic: str, confidence: float, sources: Sequence[int], since: int) -> Candidate:
    return Candidate(
        text=text,
        category="architecture" if topic.startswith("tests:") else "workflow",
        confidence=round(min(0.9, confidence), 2),
        importance=2,
        quote="",
        sources=tuple(dict.fromkeys(sources)),
        said_by="agent",
        topic=topic,
        valid_from=since,
    )
