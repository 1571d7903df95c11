"""The log of a CI job, short: the step that failed and its end first, then what the log ends with.

GitHub Actions and GitLab write a time before each line, colours, and marks for their folding sections:

    2026-11-20T10:07:01.1234567Z ##[group]Run python -m pytest -q         section_start:1795946821:step_script\\r…
    2026-11-20T10:07:09.7654321Z ##[error]Process completed with exit code 1.     ERROR: Job failed: exit code 1

and `gh run view --log` the job's and the step's name before each line, with tabs. All of that is taken off; of a line
that was written over (progress bars) the last writing stays.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from siftd.errors import EnvelopeRejected
from siftd.team.sources.line import parse_moment

WINDOW_CHARS = 64_000
"""Of each part that is redacted. This, LINE_CHARS_MAX and NAME_CHARS_MAX are several times what is kept of the same, so
that no secret is kept which was cut in its middle before it was known for one."""
SHOWN_CHARS = 12_000
LINE_CHARS_MAX = 16_000
SHOWN_LINE_CHARS_MAX = 2_000
NAME_CHARS_MAX = 2_000
HEADING_CHARS_MAX = 300
FAILED_STEP = "Failed step: "
TOOLS_MAX = 16
COMMAND_CHARS_MAX = 200

_CODE = re.compile(r"\x1b(?:\[[0-9;:?]{0,24}[ -/]{0,2}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])")
_TIME = re.compile(r"\ufeff?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)? ?(?:\d\d[OE][ +]?)?")
_MOMENT = re.compile(r"\ufeff?(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?")
_SECTION = re.compile(r"section_(start|end):\d{1,12}:([\w.-]{1,100})(?:\[[\w=,]{0,100}\])?")
_MARK = re.compile(r"##\[(group|endgroup|error|warning|notice|command|debug|section)\]")
_FAILURE = re.compile(
    r"##\[error\]|ERROR: Job failed|Process completed with exit code [1-9]|exit (?:code|status) [1-9]|Traceback \(most"
    r"|(?:^|\s)(?:FAILED|FAIL|Error|ERROR|error|fatal|panic|npm ERR!)[\s:!\[]"
)
_ENDS = ("##[error]Process completed", "ERROR: Job failed", "##[error]Bash")
_SECTIONS_OF_RUNNER = frozenset(
    "prepare_executor prepare_script get_sources cleanup_file_variables upload_artifacts_on_failure".split()
)
_TOOL = re.compile(r"[./@]{0,3}[A-Za-z][\w./@+:-]{0,99}$")


class _Tail:
    """The last lines of what was added, WINDOW_CHARS of them."""

    def __init__(self) -> None:
        self.lines: deque[str] = deque()
        self._chars = 0

    def add(self, line: str) -> None:
        self.lines.append(line[-LINE_CHARS_MAX:])
        self._chars += len(self.lines[-1]) + 1
        while self._chars > WINDOW_CHARS + 1:
            self._chars -= len(self.lines.popleft()) + 1


class _Step:
    def __init__(self, name: str) -> None:
        self.name = name
        self.tail = _Tail()
        self.failures = 0
        """Lines that look like a failure."""
        self.is_ended_by_error = False

    def add(self, line: str, *, is_error: bool) -> None:
        self.failures += _FAILURE.search(line) is not None
        self.is_ended_by_error |= line.startswith(_ENDS)
        self.tail.add(_MARK.sub("Error: " if is_error else "", line))


class Window(NamedTuple):
    """What of a log is worth redacting, in plain lines."""

    step: str
    """The name of the step that failed; "" where none did, or none has a name."""
    lines: str
    """The end of the step that failed; of the log where none did."""
    after: str
    """The end of what came behind that step."""


def window(log: str) -> Window:
    """Return the first step that ended by an error, or else the last one with a line that looks like a failure."""
    failed: _Step | None = None
    after = _Tail()
    for step in _steps(log):
        is_settled = failed is not None and failed.is_ended_by_error
        if not is_settled and (step.is_ended_by_error or step.failures):
            failed, after = step, _Tail()
        else:
            for line in step.tail.lines:
                after.add(line)
    if failed is None:
        return Window("", "\n".join(after.lines), "")
    return Window(failed.name, "\n".join(failed.tail.lines), "\n".join(after.lines))


def shortened(shown: Window) -> str:
    """Return a window, once it is redacted, as it is kept."""
    after = _end(shown.after, SHOWN_CHARS // 4)
    lines = _end(shown.lines, SHOWN_CHARS - len(after))
    heading = f"{FAILED_STEP}{shown.step}"[:HEADING_CHARS_MAX] + "\n" if shown.step else ""
    return heading + lines + (f"\n\n{after}" if after else "")


def tools(log: str) -> list[str]:
    """Return what a job ran, by the first word of each command that its log names."""
    found: dict[str, None] = {}
    for line in map(_plain_line, _raw_lines(log)):
        command = line.removeprefix("##[group]Run ") if line.startswith("##[group]Run ") else ""
        command = line[2:] if line.startswith("$ ") else command
        words = command[:COMMAND_CHARS_MAX].split()
        if words and _TOOL.match(words[0]):
            found[words[0]] = None
        if len(found) == TOOLS_MAX:
            break
    return list(found)


def status(log: str) -> str:
    """Return how a job ended, as far as its log says so."""
    end = log[-WINDOW_CHARS:]
    if "##[error]Process completed with exit code" in end or "ERROR: Job failed" in end:
        return "failed"
    return "success" if "Job succeeded" in end else ""


def last_moment(log: str) -> str:
    """Return the last time that a log's lines begin with; "" where they have none that is one."""
    for line in reversed(log[-WINDOW_CHARS:].splitlines()):
        if found := _MOMENT.match(line.rsplit("\t", 1)[-1]):
            day, time, part, zone = found.groups()
            moment = f"{day}T{time}.{(part or '0')[:3]:0<3}{zone or 'Z'}"
            try:
                if parse_moment(moment) > 0:
                    return moment
            except EnvelopeRejected:
                pass  # `0000-00-00 00:00:00`, which a database prints
    return ""


def _raw_lines(log: str) -> Iterator[str]:
    """Yield the lines of a log, one after the other: a list of them would be many times as large as the log."""
    at = 0
    while (end := log.find("\n", at)) >= 0:
        yield log[at:end]
        at = end + 1
    yield log[at:]


def _plain_line(line: str) -> str:
    line = _CODE.sub("", line.rstrip("\r")) if "\x1b" in line else line.rstrip("\r")
    fields = line.split("\t", 2)
    if len(fields) == 3 and _TIME.match(fields[2]):  # JOB, STEP, TIME: as `gh run view --log` prints it
        line = fields[2]
    line = _TIME.sub("", line, count=1) if line[:1] in "12\ufeff" and _TIME.match(line) else line
    if "\r" in line and not line.startswith("section_"):
        line = line.rsplit("\r", 1)[-1]
    return line


def _steps(log: str) -> Iterator[_Step]:
    """Yield a log in the steps that it marks; a log without marks is one step without a name."""
    step = _Step("")
    printed = ""
    for raw in _raw_lines(log):
        fields = raw.split("\t", 2)
        is_new = len(fields) == 3 and fields[1] != printed and _TIME.match(fields[2]) is not None
        printed = fields[1] if is_new else printed  # JOB, STEP, TIME: as `gh run view --log` prints it
        line = _plain_line(raw)
        name = (printed if is_new else "") or _step_that_begins(line)
        if name and name != step.name:
            yield step
            step = _Step(name[:NAME_CHARS_MAX])
        line = _SECTION.sub("", line).replace("\r", "")
        mark = _MARK.match(line)
        if not mark or mark[1] not in ("endgroup", "debug"):
            step.add(line, is_error=mark is not None and mark[1] == "error")
    yield step


def _step_that_begins(line: str) -> str:
    if line.startswith("##[group]Run "):
        return line.removeprefix("##[group]Run ")[:NAME_CHARS_MAX].strip()
    begun = [found[2] for found in _SECTION.finditer(line) if found[1] == "start"] if "section_start" in line else []
    return begun[-1] if begun and begun[-1] not in _SECTIONS_OF_RUNNER else ""


def _end(text: str, chars_max: int) -> str:
    """Return the last lines of a text, as many as fit, from whole ones on."""
    tail: list[str] = []
    room = chars_max
    for line in reversed(text.split("\n")):
        cut = line[-min(room, SHOWN_LINE_CHARS_MAX) :] if room > 0 else ""
        room -= len(cut) + 1
        if room < 0:
            break
        tail.append(cut)
    return "\n".join(reversed(tail)).strip("\n")
