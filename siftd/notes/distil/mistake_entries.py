"""Entries of `mistakes.md`: faults that were mended, with what was seen of them and why, as far as somebody said it.

    ### 2026-01-23 — Wire agentType through for correct chunk reassembly
    - Symptom: This produced invalid JSON.
    - Cause: The function was passing an empty agentType, which caused concatenation to be used for all transcripts.
    - Prevention: We now pass the name through.
    - Evidence: agent (e1019)

What nobody named the cause of is no entry, but for a command that failed and what worked in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from siftd.notes.distil import commits
from siftd.notes.distil.asking import HURTS
from siftd.notes.distil.forms import date_of, plain, sentence
from siftd.notes.distil.lines import Wanted, words_of
from siftd.notes.distil.material import Commit, Material, Repair, Session

_CAUSES = re.compile(
    r"\b(?:because|caus(?:ed|es|ing)|due to|root cause|since|which (?:made|led|meant)|as a result)\b", re.IGNORECASE
)
_WAS = re.compile(r"\b(?:was|were|had|did(?:n't| not)|wasn't|weren't|never|previously|only)\b", re.IGNORECASE)
_BUT = re.compile(r"\b(?:but|while|still|even though|although)\b", re.IGNORECASE)
_CAUSE_LEAD = re.compile(
    r"(?:so )?(?:the )?(?:real |actual |underlying )?(?:root cause|bug|issue|problem|culprit|cause|key insight)"
    r"(?: here)?[\s:*—-]{0,4}"
    r"(?:(?:was|occurred|happened|came|is)\b )?(?:that |because )?",
    re.IGNORECASE,
)
_ALIKE = 0.45
_WORDS_IN_COMMON = 3
_CLOSES_WITHIN_MS = 10 * 60_000
"""How long after a commit its turn may close."""
_DEED = re.compile(
    r"(?:this|these|use|add|fix|make|ensure|update|remove|replace|change|set|move|switch|resolve|address|prevent|allow"
    r"|interim|also|now)\w{0,3}\b",
    re.IGNORECASE,
)
"""What opens a sentence that tells of the mending, not of the fault."""
_FIXING = re.compile(r"(?:fix|resolve|repair|correct)(?:e?s|e?d|ing)? ", re.IGNORECASE)
_FAULT = re.compile(rf"{HURTS.pattern}|\b(?:issues?|problems?|warnings?)\b", re.IGNORECASE)
_PREVENTS = re.compile(r"\b(?:(?:prevent|avoid|ensur)(?:e?s|e|ed|ing)?|so (?:we|that|the)|no longer)\b", re.IGNORECASE)
_NOW = re.compile(r"(?<!should )\bnow\b(?! (?:runs?|works?|pass(?:es)?|displays?|shows?)\b)", re.IGNORECASE)
_ERROR = re.compile(
    r"`(?P<failed>[^`]{1,120})` fails with “.{0,120}”; (?P<ended>`[^`]{1,120}`(?:, then `[^`]{1,120}`)?) ended that"
)


def mistake_entries(material: Material) -> Iterator[Wanted]:
    for session in material.sessions:
        yield from _repaired(session)
    for fact in material.facts:
        if fact.origin == "learnt" and (fact.topic or "").startswith("error:") and (found := _ERROR.match(fact.text)):
            failed, ended = plain(found["failed"]), plain(found["ended"])
            if "…" not in f"{failed}{ended}":
                said = _entry(
                    fact.since_ts,
                    f"`{failed}` fails",
                    f"`{failed}` fails.",
                    "",
                    f"{ended} works instead.",
                    f"a failure and what ended it (m{fact.id})",
                )
                yield Wanted(f"fact:{fact.id}", "", said)


def _repaired(session: Session) -> Iterator[Wanted]:
    """Yield the faults that a session mended, the newest first: those of its commits, then what its turns said."""
    left = list(session.repairs)
    known: list[set[str]] = []
    reported: set[str] = set()
    since = 0
    entries: list[Wanted] = []
    for commit in session.commits:
        if commits.mends(commit.subject):
            led = [
                each for each in left if since < each.ts <= commit.ts + _CLOSES_WITHIN_MS and _are_of_one(commit, each)
            ]
            if entry := _fixed(commit, led[0] if led else None):
                entries.append(Wanted(f"fix:e{commit.event_id}", "", entry))
                known.append(words_of(entry))
                left = [each for each in left if each not in led]
        since = commit.ts
    yield from reversed(entries)
    for repair in left:
        lead = _CAUSE_LEAD.match(repair.cause)
        cause = repair.cause[lead.end() :] if lead else repair.cause
        cause = cause[:1].upper() + cause[1:]
        words = words_of(cause)
        if any(len(words & other) >= _ALIKE * len(words) for other in known) or repair.asked in reported:
            continue
        known.append(words)
        reported |= {repair.asked} - {""}
        title = plain(cause, 90)
        done = _mended_in(repair.changed, repair.tests)
        said = _entry(repair.ts, title.rstrip("."), repair.asked, cause, done, f"agent (e{repair.event_id})")
        yield Wanted(f"fix:e{repair.event_id}", "", said)


def _are_of_one(commit: Commit, repair: Repair) -> bool:
    """Whether a turn's end speaks of what a commit mends: near in time alone they may be about two things."""
    message = " ".join((commit.subject, *commit.body, *commit.items))
    needed = _WORDS_IN_COMMON - (repair.ts >= commit.ts)  # then it is that very turn
    return len(words_of(repair.cause) & words_of(message)) >= needed


def _fixed(commit: Commit, repair: Repair | None) -> str:
    """Return the entry of a commit that mends; empty where nobody says what was wrong."""
    faults = [each for each in commit.body if not _DEED.match(each)]
    cause = next((each for each in faults if _CAUSES.search(each)), "") or (repair.cause if repair else "")
    cause = cause or next(
        (each for each in faults if _WAS.search(each) and (HURTS.search(each) or _BUT.search(each))), ""
    )
    symptom = next((each for each in faults if each != cause and HURTS.search(each) and not _mends(each)), "")
    symptom = symptom or (repair.asked if repair else "") or _seen_in(commit.subject)
    every = (*commit.body, *commit.items)
    rest = [each for each in every if each not in (cause, symptom)]
    mended = next((each for pattern in (_PREVENTS, _NOW) for each in rest if pattern.search(each)), "")
    if not cause and not (symptom and mended):
        return ""
    prevention = " ".join(filter(None, (sentence(mended, 240) if mended else "", _mended_in((), commit.tests))))
    title = plain(commits.title_of(commit.subject), 110)
    return _entry(commit.ts, title, symptom, cause, prevention, f"agent (e{commit.event_id})")


def _seen_in(subject: str) -> str:
    """Return the fault that a commit's subject names: "npm ci failure in container"."""
    title = commits.title_of(subject)
    fixing = _FIXING.match(title)
    seen = title[fixing.end() :] if fixing else ""
    return seen if _FAULT.search(seen) else ""


def _mends(text: str) -> bool:
    return _PREVENTS.search(text) is not None or _NOW.search(text) is not None


def _mended_in(changed: Sequence[str], tests: Sequence[str]) -> str:
    """Return where something was mended, and which tests changed with it."""
    parts = [("Mended", changed), ("tested" if changed else "Tested", tests)]
    said = [f"{verb} in {', '.join(f'`{plain(each, 60)}`' for each in names[:2])}" for verb, names in parts if names]
    return f"{', '.join(said)}." if said else ""


def _entry(ts: int, title: str, symptom: str, cause: str, prevention: str, evidence: str) -> str:
    lines = [f"### {date_of(ts)} — {title}"]
    lines += [f"- Symptom: {sentence(symptom, 260)}"] if symptom else []
    lines += [f"- Cause: {sentence(cause, 320)}"] if cause else []
    lines += [f"- Prevention: {prevention}"] if prevention else []
    return "\n".join([*lines, f"- Evidence: {evidence}"])
