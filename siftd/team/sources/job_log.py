"""The log of a CI job, short: the step that failed and its end first, then what the log ends with.

GitHub Actions and GitLab write a time before each line, colours, and marks for their folding sections:

    2026-11-20T10:07:01.1234567Z ##[group]Run python -m pytest -q         section_start:1795946821:step_script\\r…
    2026-11-20T10:07:09.7654321Z ##[error]Process completed with exit code 1.     ERROR: Job failed: exit code 1

and `gh run view --log` the job's and the step's name before each line, with tabs. All of that is taken off; of a line
that was written over (progress bars) the last writing stays.
"""

from __future__ import annotations

import re

WINDOW_CHARS = 64_000
"""What is redacted: four times what is kept, so that no secret is cut in its middle before it is known for one."""
SHOWN_CHARS = 12_000
FAILED_STEP = "Failed step: "
TOOLS_MAX = 16
COMMAND_CHARS_MAX = 200

_CODE = re.compile(r"\x1b(?:\[[0-9;:?]{0,24}[ -/]{0,2}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])")
_TIME = re.compile(r"\ufeff?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)? ?(?:\d\d[OE][ +]?)?")
_SECTION = re.compile(r"section_(start|end):\d{1,12}:([\w.-]{1,100})(?:\[[\w=,]{0,100}\])?")
_MARK = re.compile(r"##\[(group|endgroup|error|warning|notice|command|debug|section)\]")
_FAILURE = re.compile(
    r"##\[error\]|ERROR: Job failed|Process completed with exit code [1-9]|exit (?:code|status) [1-9]|Traceback \(most"
    r"|(?:^|\s)(?:FAILED|FAIL|Error|ERROR|error|fatal|panic|npm ERR!)[\s:!\[]"
)
_SECTIONS_OF_RUNNER = frozenset(
    "prepare_executor prepare_script get_sources cleanup_file_variables upload_artifacts_on_failure".split()
)
_TOOL = re.compile(r"[./@]{0,3}[A-Za-z][\w./@+:-]{0,99}$")


class _Step:
    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: list[str] = []
        self.failures = 0
        """Lines that look like a failure."""
        self.is_ended_by_error = False


def window(log: str) -> str:
    """Return the part of a log that is worth redacting: plain lines, the failed step's name before its end."""
    steps = _steps(log)
    failed = _failed(steps)
    if failed is None:
        return _tail([line for step in steps for line in step.lines], WINDOW_CHARS)
    heading = f"{FAILED_STEP}{failed.name}\n" if failed.name else ""
    after = [line for step in steps[steps.index(failed) + 1 :] for line in step.lines]
    return heading + _tail(failed.lines, WINDOW_CHARS) + ("\n\n" + _tail(after, SHOWN_CHARS // 4) if after else "")


def shortened(shown: str) -> str:
    """Return a window, once it is redacted, as it is kept."""
    head, _, rest = shown.partition("\n") if shown.startswith(FAILED_STEP) else ("", "", shown)
    return "\n".join(filter(None, (head[:300], _tail(rest.split("\n"), SHOWN_CHARS))))


def tools(log: str) -> list[str]:
    """Return what a job ran, by the first word of each command that its log names."""
    found: dict[str, None] = {}
    for line in _plain_lines(log):
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
    """Return the last time that a log's lines begin with, as it is written; "" where they have none."""
    for line in reversed(log[-WINDOW_CHARS:].splitlines()):
        found = _TIME.match(line.rsplit("\t", 1)[-1])
        if found:
            return found[0].lstrip("\ufeff")[:26].strip().rstrip("Z").replace(",", ".") + "Z"
    return ""


def _plain_lines(log: str) -> list[str]:
    return [_plain_line(line) for line in log.split("\n")]


def _plain_line(line: str) -> str:
    line = _CODE.sub("", line.rstrip("\r")) if "\x1b" in line else line.rstrip("\r")
    fields = line.split("\t", 2)
    if len(fields) == 3 and _TIME.match(fields[2]):  # JOB, STEP, TIME: as `gh run view --log` prints it
        line = fields[2]
    line = _TIME.sub("", line, count=1) if line[:1] in "12\ufeff" and _TIME.match(line) else line
    if "\r" in line and not line.startswith("section_"):
        line = line.rsplit("\r", 1)[-1]
    return line


def _steps(log: str) -> list[_Step]:
    """Return a log in the steps that it marks; a log without marks is one step without a name."""
    steps = [_Step("")]
    printed = _printed_steps(log)
    for number, line in enumerate(_plain_lines(log)):
        name = printed.get(number) or _step_that_begins(line)
        if name and name != steps[-1].name:
            steps.append(_Step(name))
        line = _SECTION.sub("", line).replace("\r", "")
        mark = _MARK.match(line)
        if mark and mark[1] in ("endgroup", "debug"):
            continue
        step = steps[-1]
        step.failures += _FAILURE.search(line) is not None
        step.is_ended_by_error |= line.startswith(("##[error]Process completed", "ERROR: Job failed", "##[error]Bash"))
        step.lines.append(_MARK.sub("Error: " if mark and mark[1] == "error" else "", line))
    return steps


def _printed_steps(log: str) -> dict[int, str]:
    """Return the step's name of each line where `gh run view --log` prints it, and at whose line it changes."""
    names: dict[int, str] = {}
    last = ""
    for number, line in enumerate(log.split("\n")):
        fields = line.split("\t", 2)
        if len(fields) == 3 and fields[1] != last and _TIME.match(fields[2]):
            names[number] = last = fields[1]
    return names


def _step_that_begins(line: str) -> str:
    if line.startswith("##[group]Run "):
        return line.removeprefix("##[group]Run ")[:COMMAND_CHARS_MAX].strip()
    begun = [found[2] for found in _SECTION.finditer(line) if found[1] == "start"] if "section_start" in line else []
    return begun[-1] if begun and begun[-1] not in _SECTIONS_OF_RUNNER else ""


def _failed(steps: list[_Step]) -> _Step | None:
    """Return the first step that ended by an error, or else the last one with a line that looks like a failure."""
    ended = next((step for step in steps if step.is_ended_by_error), None)
    return ended or next((step for step in reversed(steps) if step.failures), None)


def _tail(lines: list[str], chars_max: int) -> str:
    """Return the last lines, as many as fit, from whole ones on."""
    tail: list[str] = []
    room = chars_max
    for line in reversed(lines):
        cut = line[-min(room, 2_000) :] if room > 0 else ""
        room -= len(cut) + 1
        if room < 0:
            break
        tail.append(cut)
    return "\n".join(reversed(tail)).strip("\n")
