"""Errors that come back, and what ended them: by what an error is known again, and which step was its end.

An error is known by the rule that a checker names ("nilerr", "MD040"), else by the line that tells of it, paths and
numbers left out. A rule is the same in every file, and a change ended it. Any other error is the same only for a
command that does the same, and another command ended it: what a change ended then was that day's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from siftd.facts.model import TEXT_CHARS_MAX, Candidate

FAULTS_MAX = 8
STEPS_MAX = 24
"""Calls after a failure among which its end is looked for."""
CALLS_MAX = 5
"""Of these, for an error that another command ends."""
_LINES_MAX = 250
_CHARS_MAX = 8_000
_LINE_CHARS_MAX = 400
_SIGNATURE_CHARS = (15, 160)
"""Shorter says nothing of its own; longer lines end differently."""
_SHOWN_CHARS_MIN = 8
_SIGNATURE_CHARS_MAX = 60
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_PREFIX = re.compile(r"^\[[\w:.-]{1,40}\] (?!error)", re.IGNORECASE)
"""The task's name that a runner puts before each line."""
_NAMES_AN_ERROR = re.compile(
    r"error|fail|fatal|cannot|can't|could not|no such|denied|undefined|unexpected|panic|exception|invalid|missing"
    r"|refused|unable|does not|not found|not allowed|not supported|conflict|unknown",
    re.IGNORECASE,
)
_SAYS_NO_MORE = re.compile(
    r"\W{0,20}(?:exit code \d{1,5}|errors?|fail(?:ed|ure)?)\W{0,20}"
    r"|\[[\w:./-]{1,60}\] error task failed"
    r"|(?:\S{1,40} )?(?:error|err!) ?(?:code|command failed|lifecycle|elifecycle).{0,200}"
    r"|.{0,60}ELIFECYCLE.{0,200}"
    r"|make(?:\[\d{1,3}\])?: \*\*\*.{0,300}"
    r"|(?:--- |=== |# )?fail(?:ed)?\b.{0,390}|.{0,200}\[(?:build|setup) failed\]"
    r"|\[(?:FAILED|SKIPPED|STARTED|COMPLETED)\].{0,300}"
    r"|husky - .{0,200}|(?:found )?\d{1,6} (?:errors?|problems?|failures?|failed|issues?)\b.{0,100}"
    r"|(?:tests?|suites?|test suites?): .{0,200}|\* \w{1,40}: \d{1,5}|hint: .{0,390}",
    re.IGNORECASE,
)
"""Lines with which a tool closes whatever went wrong, and names of tests, which are of one day."""
_AT = r"(?P<path>[^\s:()]{1,300}):\d{1,7}(?::\d{1,7})?:?\s{1,4}"
_GOLANGCI = re.compile(_AT + r"(?:(?P<head>[A-Za-z][\w-]{1,30}):\s)?[^\n]{1,300}\((?P<rule>[a-z][a-z0-9]{2,24})\)")
_MARKDOWNLINT = re.compile(_AT + r"(?:error\s)?(?P<rule>MD\d{3})/[\w/-]{1,80}\b[^\n]{0,300}")
_CODE = re.compile(_AT + r"(?:error\s)?(?P<rule>[A-Z]{1,4}\d{3,4})\b[^\n]{0,300}")
"""Of ruff, flake8, hadolint."""
_ESLINT = re.compile(r"\s{1,8}\d{1,6}:\d{1,6}\s{1,8}error\s{1,8}[^\n]{1,200}?\s{2,8}(?P<rule>[@a-z][\w@/-]{2,60})")
_RULES = (_GOLANGCI, _MARKDOWNLINT, _CODE, _ESLINT)
_NO_RULES = frozenset(("typecheck", "line", "error", "note", "warning"))
"""What a compiler says stands in their place, and is of one day."""
_PATH = re.compile(
    r"(?:(?:~|\.{1,2})?(?:/[\w.@+~-]{1,80}){1,20}/?|[\w-]{1,60}(?:/[\w.@+-]{1,80}){1,20}|[\w-]{1,60}\.[a-z]{1,4}\b)"
    r"(?::\d{1,7}){0,3}"
)
_LETTERS = re.compile(r"[a-z]{3,40}")
_NUMBER = re.compile(r"0x[0-9a-f]{1,32}|\b(?=[a-f]{0,64}\d)[0-9a-f]{7,64}\b|\d{1,30}", re.IGNORECASE)


class Fault(NamedTuple):
    """One thing that was wrong."""

    signature: str
    is_rule: bool
    path: str = ""
    """The file that it is told of."""
    shown: str = ""
    """The line of that file, where the tool prints it."""

    @property
    def word(self) -> str:
        """A word that every output with this fault holds, in small letters: what is looked for first."""
        return self.signature.split()[1] if self.is_rule else max(_LETTERS.findall(self.signature), key=len, default="")


class Step(NamedTuple):
    """A call after a failure, in the same conversation."""

    event_id: int
    command: str | None
    """What was run; None for any other call."""
    does_same: bool
    """Whether it does what the failed command does."""
    is_well: bool
    """Whether it is seen to have succeeded."""
    faults: frozenset[str]
    """The signatures of what it found wrong."""
    path: str
    """The file that was changed; "" for none."""
    before: str
    after: str
    """What was taken out of it and put in."""


class End(NamedTuple):
    """What ended a fault."""

    succeeded: int
    """The event after which it was no more."""
    ran: tuple[str, ...]
    """The commands that were run for it, the last one being what succeeded; none where a change was the end."""
    change: int | None
    """The event of the change."""
    path: str


def faults_of(output: str) -> list[Fault]:
    """Return what an output tells that is wrong, in order, each once."""
    text = output if len(output) <= _CHARS_MAX else f"{output[: _CHARS_MAX // 2]}\n{output[-_CHARS_MAX // 2 :]}"
    lines = [_PREFIX.sub("", line) for line in _COLOUR.sub("", text).splitlines()[:_LINES_MAX]]
    found: dict[str, Fault] = {}
    for at, line in enumerate(lines):
        fault = _rule(line[:_LINE_CHARS_MAX], lines[at + 1].strip() if at + 1 < len(lines) else "")
        if fault is None and (known := _signature(line)):
            fault = Fault(known, is_rule=False)
        if fault is not None:
            found.setdefault(fault.signature, fault)
        if len(found) >= FAULTS_MAX:
            break
    return list(found.values())


def _rule(line: str, following: str) -> Fault | None:
    for pattern in _RULES:
        match = pattern.fullmatch(line.rstrip())
        if match is None or match["rule"].lower() in _NO_RULES:
            continue
        reported = match.groupdict()
        head = (reported.get("head") or "").lower()
        name = f"{match['rule'].lower()} {head}".strip()
        return Fault(f"rule {name}", True, reported.get("path") or "", following[:_LINE_CHARS_MAX])
    return None


def _signature(line: str) -> str:
    line = line[:_LINE_CHARS_MAX].strip()
    if not _NAMES_AN_ERROR.search(line) or _SAYS_NO_MORE.fullmatch(line):
        return ""
    known = " ".join(_NUMBER.sub("0", _PATH.sub("/", line)).split()).lower()
    low, high = _SIGNATURE_CHARS
    return known[:high] if len(known) >= low else ""


def end_of(fault: Fault, steps: Sequence[Step]) -> End | None:
    """Return what ended a fault of a command, of the calls that came after; None where that is not seen."""
    return _change_that_ended(fault, steps) if fault.is_rule else _command_that_ended(steps)


def _change_that_ended(fault: Fault, steps: Sequence[Step]) -> End | None:
    changes: list[Step] = []
    for step in steps[:STEPS_MAX]:
        if step.path and _is_of(step.path, fault.path):
            changes.append(step)
        if step.does_same and (step.is_well or (step.faults and fault.signature not in step.faults)):
            change = _change_for(fault, changes)
            return End(step.event_id, (), change.event_id, change.path) if change else None
    return None


def _change_for(fault: Fault, changes: Sequence[Step]) -> Step | None:
    """Return the change that names the rule; else the one of the very line that it was told of; else an only one."""
    named = [step for step in changes if fault.word in step.after.lower() and fault.word not in step.before.lower()]
    shown = [step for step in changes if len(fault.shown) >= _SHOWN_CHARS_MIN and fault.shown in step.before]
    chosen = named or shown or (list(changes) if len(changes) == 1 else [])
    return chosen[0] if chosen else None


def _is_of(path: str, reported: str) -> bool:
    """Whether a change's file is the one that a tool told of, which may be told from the root or in whole."""
    reported = reported.removeprefix("./")
    return bool(reported) and (path == reported or path.endswith(f"/{reported}") or reported.endswith(f"/{path}"))


def _command_that_ended(steps: Sequence[Step]) -> End | None:
    ran: list[str] = []
    for step in steps[:CALLS_MAX]:
        if step.path:
            return None  # the change was the answer, and it was that day's
        if step.command is None or not step.is_well:
            continue
        ran.append(step.command)
        if step.does_same:
            return End(step.event_id, tuple(ran), None, "")
    return None


def candidate_of(signature: str, end: End, *, failed: int, ts: int, named: Sequence[str]) -> Candidate | None:
    """Return the fact that an error makes which came back and which a command had ended.

    `named` are that command and the one that had failed, the failed one first, in words that are safe to show. None
    where a change ended it, which is of one day, and where the words that are safe do not tell what was done.
    """
    if end.change is not None or len(named) < 2 or set(named[1:]) <= {named[0]} or "…" in "".join(named):
        return None
    failing, *ending = _without_its_number(named)
    ended = ", then ".join(f"`{each}`" for each in ending[-2:])
    text = f"`{failing}` fails with “{signature[:_SIGNATURE_CHARS_MAX]}”; {ended} ended that"
    return Candidate(
        text=text[:TEXT_CHARS_MAX],
        category="issue",
        confidence=0.7,
        importance=2,
        quote="",
        sources=(failed, end.succeeded),
        said_by="output",
        topic=f"error:{signature[:100]}",
        valid_from=ts,
    )


def _without_its_number(commands: Sequence[str]) -> list[str]:
    """Return commands with "N" for a number that all of them are given: which pull request it was is of one day."""
    words = [each.split(" ") for each in commands]
    numbers = {word for word in words[0] if word.isdecimal()}.intersection(*words[1:])
    return [" ".join("N" if word in numbers else word for word in each) for each in words]
