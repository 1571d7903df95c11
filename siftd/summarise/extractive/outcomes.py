"""What the output of a command says about how it went.

Test runners, linters, compilers, package managers and git each print a few lines that tell the result. They are
known by those lines and not by the command, which is often a script or a task runner in front of them. What is
said is always the tool's own words. A pattern is compiled when its text is first met: all of them take 15 ms.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

from siftd.summarise.extractive.text import clip, join_within, one_line, unique


class Finding(NamedTuple):
    """What the output tells: totals and states, names of what failed, the first error."""

    verdicts: list[str]
    failures: list[str]
    error: str
    is_bad: bool
    """Whether a failure was seen, whatever the exit status says (a pipe hides it)."""

    @property
    def understood(self) -> bool:
        return bool(self.verdicts or self.failures or self.error)

    def clipped(self, limit: int) -> str:
        """Join totals, names and the first error, the most telling first."""
        text = join_within(self.verdicts[:3], limit * 2 // 3, "; ")
        if self.failures:
            names = join_within(self.failures, max(60, limit - len(text) - 80))
            text = f"{text}: {names}" if text else names
        if self.error and self.error not in text and limit - len(text) > 40:
            text = f"{text} — {clip(self.error, limit - len(text) - 3)}" if text else clip(self.error, limit)
        return clip(text, limit)


_compiled = functools.cache(functools.partial(re.compile, flags=re.MULTILINE))

# Each row: a text without which the pattern cannot match (it is looked for first, that is cheap), and the pattern
# whose first group is what is said.
_VERDICTS = (
    # tests
    (
        " in ",
        r"^=* ?((?:\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)(?:, )?)+) in [\d.:]+",
    ),
    ("no tests ran", r"^=* ?(no tests ran)"),
    ("Ran ", r"^(Ran \d+ tests? in [\d.]+s)$"),
    ("FAILED (", r"^(FAILED \([^)\n]{1,80}\))$"),
    ("Tests:", r"^[ \t]*Tests:[ \t]+((?:\d+ [a-z]+, )+\d+ total)"),
    ("Tests ", r"^[ \t]*Tests[ \t]+((?:\d+ [a-z]+(?: \| )?)+ \(\d+\))"),
    ("Tests run:", r"(Tests run: \d+, Failures: \d+, Errors: \d+)(?:, Skipped: \d+)?$"),
    ("test result:", r"^test result: ((?:ok|FAILED)\. \d+ passed; \d+ failed)"),
    ("passing", r"^[ \t]+(\d+ passing)\b"),
    ("failing", r"^[ \t]+(\d+ failing)\b"),
    (" passed", r"^[ \t]*(\d+ passed(?: \([\d.ms]+\))?)$"),
    (" failed", r"^[ \t]*(\d+ failed)$"),
    ("# fail", r"^# (pass \d+|fail \d+)$"),
    ("example", r"^(\d+ examples?, \d+ failures?)"),
    ("assertions", r"^(OK \(\d+ tests?, \d+ assertions?\)|Tests: \d+, Assertions: \d+[^\n]{0,60})"),
    ("Passed!", r"^((?:Passed!|Failed!)  - Failed: +\d+, Passed: +\d+)"),
    # linters and type checkers
    ("All checks passed", r"^(All checks passed!)"),
    ("Found ", r"^(Found \d+ errors?(?: \([^)\n]{1,40}\)| in (?:\d+ files?|the same file|\S{1,120})[^\n]{0,60})?)"),
    ("no issues found", r"^(Success: no issues found[^\n]{0,40})"),
    (" problem", r"((?:\d+) problems? \(\d+ errors?, \d+ warnings?\))"),
    (" issues", r"^(\d+ issues)[.:]"),
    ("would be reformatted", r"^(\d+ files? would be reformatted[^\n]{0,60})"),
    ("reformatted", r"^(\d+ files? reformatted[^\n]{0,60})"),
    ("errors,", r"^(\d+ errors?, \d+ warnings?[^\n]{0,40})"),
    # builds
    ("Finished", r"^[ \t]*(Finished [^\n]{1,80})"),
    ("BUILD ", r"^(?:\[INFO\] |\[ERROR\] )?(BUILD (?:SUCCESS(?:FUL)?|FAILURE|FAILED)(?: in \S+)?)"),
    ("built in", r"(built in [\d.]+ ?m?s)"),
    ("Compiled", r"(Compiled (?:successfully|with warnings)[^\n]{0,40})"),
    ("Failed to compile", r"(Failed to compile)"),
    # packages
    ("added ", r"^((?:added|removed|changed) \d+ packages?[^\n]{0,60})"),
    ("up to date", r"^(up to date[^\n]{0,60})"),
    ("vulnerabilit", r"^((?:found )?\d+ (?:\w+ severity )?vulnerabilities[^\n]{0,40})"),
    ("Successfully installed", r"^(Successfully installed [^\n]{1,160})"),
    ("Successfully built", r"^(Successfully built [^\n]{1,80})"),
    ("Installed ", r"^(Installed \d+ packages?[^\n]{0,40})"),
    # git
    ("file", r"^ ?(\d+ files? changed(?:, \d+ insertions?\(\+\))?(?:, \d+ deletions?\(-\))?)"),
    ("working tree clean", r"^(nothing to commit, working tree clean)"),
    ("Everything up-to-date", r"^(Everything up-to-date)"),
    ("Already up to date", r"^(Already up to date\.)"),
    ("Switched to", r"^(Switched to (?:a new )?branch '[^'\n]{1,120}')"),
    ("Successfully rebased", r"^(Successfully rebased and updated [^\n]{1,100}?)\.?$"),
    ("Fast-forward", r"^(Fast-forward)$"),
    ("Merge made", r"^(Merge made by [^\n]{1,60}?)\.?$"),
    ("->", r"^ [ *+=-] {1,3}((?:\[new (?:branch|tag)\]|[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40}) +\S+ +-> +\S+)"),
    ("Saved working", r"^(Saved working directory and index state [^\n]{1,100})"),
    ("/pull/", r"^(https://\S{1,120}/pull/\d+)$"),
)

_FAILURES = (
    ("FAILED ", r"^FAILED (?:\S*::)?([^\s:(]\S{0,150})"),
    ("ERROR ", r"^ERROR (\S{1,150}\.py(?:::\S{1,100})?)"),
    (": test", r"^(?:FAIL|ERROR): (\w{1,120}) \("),
    ("FAIL:", r"^[ \t]*--- FAIL: (\S{1,160})"),
    ("... FAILED", r"^test (\S{1,160}) \.\.\. FAILED"),
    ("●", r"^[ \t]*● (\S[^\n]{0,160})"),
    ("✕", r"^[ \t]*✕ (\S[^\n]{0,160}?)(?: \(?\d+ ?m?s\)?)?$"),
    ("✘", r"^[ \t]*✘ +\d* *(\S[^\n]{0,160}?)(?: \([\d.]+m?s\))?$"),
    ("FAIL", r"^FAIL[ \t]+(\S{1,160})(?:[ \t]+[\d.]+s)?$"),
    ("not ok", r"^not ok \d+ - (\S[^\n]{0,120})"),
    ("FAILED", r"^> Task (:\S{1,80}) FAILED"),
)

_ERRORS = (
    ("--- FAIL", r"--- FAIL: [^\n]*\n[ \t]+(\S{1,100}\.go:\d+: (?!Hook )[^\n]{1,200})"),
    ("[FAILED]", r"^(\[FAILED\] [^\n]{1,160})"),
    ("CONFLICT", r"^(CONFLICT \([^\n]{1,160})"),
    ("rejected]", r"^ ! (\[(?:remote )?rejected\][^\n]{1,140})"),
    ("rror: ", r"^E {2,}((?:\w+\.)*[A-Z]\w*(?:Error|Exception)?: [^\n]{1,200})"),
    ("assert ", r"^E {2,}(assert [^\n]{1,200})"),
    ("error TS", r"^([^\s(]{1,200}[(:]\d+[,:]\d+\)?(?: -|:) error TS\d+: [^\n]{1,200})"),
    ("error[", r"^(error\[E\d+\]: [^\n]{1,160})"),
    ("panicked at", r"(panicked at [^\n]{1,160})"),
    ("panic: ", r"^(panic: [^\n]{1,160})"),
    ("fatal: ", r"^(fatal: [^\n]{1,200})"),
    ("rror", r"^((?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Exit)\b(?:: [^\n]{1,200})?)$"),
    ("npm ", r"^npm (?:ERR!|error) ((?!code|errno|syscall|path|A complete)[^\n]{4,160})"),
    (": ", r"^((?!https?:)[^\s:()]{1,160}\.\w{1,8}:\d+(?::\d+)?: [^\n]{1,200})"),
    ("rror", r"^[ \t]*\d+:\d+ +(error +[^\n]{1,160})"),
    ("import cycle", r"(import cycle not allowed[^\n]{0,120})"),
    ("***", r"^(make(?:\[\d+\])?: \*\*\* [^\n]{1,140})"),
    ("rror", r"(?i)^[ \t]*((?:error|err)\b[: !][^\n]{3,200})"),
    ("ERROR: ", r"^(ERROR: [^\n]{3,200})"),
    ("rror: ", r"^([^\n]{0,120}?\b[Ee]rror: [^\n]{1,200})$"),
    ("annot ", r"^([^\n]{0,80}\b[Cc]annot [^\n]{1,160})$"),
    ("not found", r"^([^\n]{1,120}\bnot found\b[^\n]{0,60})$"),
    ("o such file", r"^([^\n]{1,160}[Nn]o such file or directory[^\n]{0,80})$"),
    ("enied", r"^([^\n]{1,160}[Dd]enied[^\n]{0,60})$"),
    ("Error: ", r"\b([A-Z]\w{0,60}Error: [^\n]{1,160})"),
)

_BAD = re.compile(
    r"\b[1-9]\d* (?:failed|failing|errors?|failures?)\b|FAIL|BUILD FAILURE|Failed to compile|\bfail [1-9]"
    r"|problems? \([1-9]|^[1-9]\d* issues"
)
_BAD_WHEREVER = ("fatal: ", "panic", "rejected", "CONFLICT")
_GO_PACKAGE = re.compile(r"^ok  \t(\S{1,160})(?![^\n]*\[no tests to run\])", re.MULTILINE)
_NO_GO_TESTS = "[no tests to run]"
MAX_NAMES = 8


def understand(output: str) -> Finding:
    """Read an output (already bounded) for its totals, failures and first error."""
    verdicts = unique(_all(_VERDICTS, output, 3), 4)
    failures = unique((_short(name) for name in _all(_FAILURES, output, MAX_NAMES)), MAX_NAMES)
    if not failures and "ok  \t" in output and (packages := _GO_PACKAGE.findall(output)):
        verdicts.insert(0, f"ok: {join_within(packages, 150)}")
    elif not failures and _NO_GO_TESTS in output:
        verdicts.insert(0, "no tests to run")
    error = first_error(output)
    says_bad = any(_BAD.search(verdict) for verdict in verdicts) or error.startswith(_BAD_WHEREVER)
    return Finding(verdicts, failures, error, says_bad or bool(failures))


def first_error(output: str) -> str:
    for marker, pattern in _ERRORS:
        if marker in output and (match := _compiled(pattern).search(output)):
            return one_line(match[1])
    return ""


def _all(rules: tuple[tuple[str, str], ...], output: str, each: int) -> Iterator[str]:
    for marker, pattern in rules:
        if marker in output:
            yield from map(one_line, _compiled(pattern).findall(output)[:each])


def _short(name: str) -> str:
    """Return a test's own name: pytest prints its path before it, and names are what people remember."""
    return clip(name.rsplit("::", 1)[-1], 100)
