"""Summaries of commands: what ran, how it ended, and the lines of its output that say why."""

from __future__ import annotations

import re
from typing import NamedTuple

from siftd.summarise.extractive.code import statements
from siftd.summarise.extractive.gist import gist
from siftd.summarise.extractive.outcomes import Finding, understand
from siftd.summarise.extractive.text import (
    SEEN,
    SPOKEN,
    THIN,
    Call,
    Line,
    bounded,
    clip,
    count_of,
    first_text,
    lines_of,
    mapping,
    one_line,
    printed,
    sequence,
    string,
)

_CHANGE_DIRECTORY = re.compile(
    r"(?:cd[ ]+\S{1,300}[ ]{0,9}(?:&&|;|\n)\s{0,40}|export[ ]+[^\n&;]{1,200}(?:&&|;|\n)\s{0,40}"
    r"|set -\w{1,9}[ ]{0,9}[;\n]\s{0,40}|#[^\n]*\n\s{0,40})+"
)
_PLUMBING = re.compile(
    r"\s{0,9}(?:2>&1|2>[ ]?/dev/null|&?>[ ]?/dev/null|\|\|[ ]?(?:true|:)\s{0,9}$"
    r"|\|&?[ ]?(?:head|tail)(?:[ ]+-\w*[ ]?\d*|[ ]+--lines=\d+)*(?=[ ]*(?:$|[|;&\n])))"
)
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w{1,40})['\"]?[^\n]*\n.*?(?:^\s*\1\b|\Z)", re.DOTALL | re.MULTILINE)
_MESSAGE = re.compile(
    r"\"\$\(cat <<-?\s*['\"]?(\w{1,40})['\"]?\s*\n\s*([^\n]{0,200})\n.*?(?:^\s*\1\s*\)\"|\Z)", re.DOTALL | re.MULTILINE
)
_EXIT = re.compile(r"^(?:Error: )?(?:Exit code:? |Process exited with code )(-?\d{1,5})\b[^\n]*\n?")
_CODEX_HEAD = re.compile(
    r"^(?:(?:Exit code|Wall time|Output|Chunk ID|Process exited with code|Original token count|Total output lines)\b"
    r"[^\n]*(?:\n|\Z))+"
)
_COMMITTED = re.compile(r"^\[([^\s\]]{1,120})(?: \(root-commit\))? ([0-9a-f]{7,40})\] ([^\n]{1,300})$", re.MULTILINE)
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'", re.DOTALL)
_NEXT = re.compile(r"&&|\|\||[;|\n(]")
_VALUED = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path")
"""Options of git itself whose value may be the next word."""
_PLACES = ("-C", "--git-dir", "--work-tree")
_PULL_REQUEST = re.compile(
    r"""\bgh pr create\b[^\n]{0,200}?(?:--title|-t)[ =]+(?:"([^"\n]{1,200})"|'([^'\n]{1,200})')"""
)
_POSTED = re.compile(
    r"""\bgh (?:api|pr (?:comment|review)|issue comment)\b[^"']{0,300}?(?:-[fF] body=|--body[ =]|-b )"""
    r"""(?:"((?:[^"\\]|\\.){1,900})|'([^']{1,900}))"""
)
"""What somebody is answered; what comes back only says it again among addresses."""
_FILE_CHANGES = re.compile(r"^ ?(\d+ files? changed[^\n]{0,60})", re.MULTILINE)
_NO_SEMICOLON = re.compile(r"(&&|\||\bdo|\bthen|\belse|[({]); ")
_IS_WELL = re.compile(
    r"\bpass|\bok\b|\bOK\b|Ran \d|SUCCESS|no issues|\b0 issues|checks passed|ompiled|Finished|built in|examples?,"
)
COMMAND_CHARS = 130
RUNNING, TIMED_OUT, INTERRUPTED = "running in the background", "timed out", "interrupted"
"""Notes of ours; others are the client's."""
_COMMAND_LOOKED_AT = 4_000


class Ended(NamedTuple):
    """How a command ended, as far as the event says."""

    output: str
    exit_code: int | None
    has_failed: bool
    note: str


def shell(call: Call) -> Line:
    """ "`pytest -q` failed (exit 1): 2 failed: test_login, test_refresh"."""
    command = command_of(call)
    ended = _ended(call)
    said = _committed(command, call.cwd, ended) or _opened_pull_request(command, ended) or _posted(command, ended)
    finding = understand(ended.output) if ended.output else Finding([], [], "", False)
    line = said or _result(bare(command), ended, finding)
    return Line(_with_purpose(line, call), _confidence(call, ended, finding, is_said=said is not None))


_AMENDED = "Amended the last commit, now"


class Deed(NamedTuple):
    """A command as part of a longer story."""

    text: str
    commit: str
    """The subject of what it committed, or of the pull request it opened."""
    has_failed: bool
    is_check: bool
    """Whether a test, a check or a build said that all is well."""
    amends: bool = False
    """Whether its commit took the place of the one before."""


def deed(call: Call) -> Deed:
    """Return what a command contributes to the story of a turn."""
    command = command_of(call)
    ended = _ended(call)
    if said := _committed(command, call.cwd, ended) or _opened_pull_request(command, ended):
        commit = _COMMITTED.search(ended.output) if said.startswith(("Committed", _AMENDED)) else None
        subject = commit[3] if commit else said.partition(": ")[2]
        return Deed(said, subject, has_failed=False, is_check=False, amends=said.startswith(_AMENDED))
    if ended.note == "interrupted":
        return Deed("", "", has_failed=False, is_check=False)
    finding = understand(ended.output) if ended.output else Finding([], [], "", False)
    has_failed = ended.has_failed or finding.is_bad
    is_check = not has_failed and any(_IS_WELL.search(verdict) for verdict in finding.verdicts)
    text = _result(clip(bare(command), 50), ended, finding) if has_failed or is_check else ""
    return Deed(text, "", has_failed, is_check)


def command_of(call: Call) -> str:
    """Return the command line; an argument list is read as its last script or joined."""
    for key in ("command", "cmd", "script"):
        given = call.input.get(key)
        if isinstance(given, str):
            return given
        words = [word for word in sequence(given)[:60] if isinstance(word, str)]
        if len(words) == 3 and words[1] in ("-c", "-lc", "-ic"):
            return words[2]
        if words:
            return " ".join(words)
    return string(call.given)


def verdict_of(call: Call) -> str:
    """Return how a command ended without a word of what it printed: "failed (exit 1)"."""
    ended = _ended(call)
    if ended.note in (RUNNING, TIMED_OUT, INTERRUPTED):
        return f"was {ended.note}" if ended.note == INTERRUPTED else ended.note
    if ended.has_failed:
        return "failed" if ended.exit_code is None else f"failed (exit {ended.exit_code})"
    return "succeeded"


def bare(command: str) -> str:
    """Return a command without its plumbing: a leading cd, redirections, pipes to head and tail, here-documents."""
    text = command[:_COMMAND_LOOKED_AT].replace("\\\n", " ").strip()
    if "<<" in text:
        text = _MESSAGE.sub(r'"\2 …"', text)
        text = _HEREDOC.sub("<<…", text)
    start = _CHANGE_DIRECTORY.match(text)
    stripped = text[start.end() :] if start else text
    stripped = _PLUMBING.sub("", stripped or text)
    lines = [line.strip() for line in stripped.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    joined = _NO_SEMICOLON.sub(r"\1 ", "; ".join(lines))
    return clip(joined or command, COMMAND_CHARS).replace("`", "'")


def _ended(call: Call) -> Ended:
    response = mapping(call.response)
    text = call.error if call.error is not None else printed(call.response)
    exit_code = _exit_code(response)
    if match := _EXIT.match(text[:200]):
        exit_code = int(match[1])
    text = _CODEX_HEAD.sub("", text[:400]) + text[400:] if match else text
    note = first_text(response, "returnCodeInterpretation")
    if response.get("backgroundTaskId") or response.get("backgroundedByUser") is True:
        note = RUNNING
    elif count_of(response.get("timedOutAfterMs")) is not None:
        note = TIMED_OUT
    elif call.outcome == "interrupted" or response.get("interrupted") is True:
        note = INTERRUPTED
    has_failed = call.outcome == "failed" or call.error is not None or exit_code not in (None, 0)
    return Ended(bounded(text), exit_code, has_failed, note)


def _exit_code(response: dict[str, object]) -> int | None:
    codes = (
        count_of(part.get(key))
        for part in (response, mapping(response.get("metadata")))
        for key in ("exit_code", "exitCode")
    )
    return next((code for code in codes if code is not None), None)


def _result(command: str, ended: Ended, finding: Finding) -> str:
    named = f"`{command}`" if command else "A command"
    room = 385 - len(named)
    if ended.has_failed:
        code = f" (exit {ended.exit_code})" if ended.exit_code is not None else ""
        first_lines = "" if finding.understood else statements(lines_of(ended.output, 4), min(room - 20, 220))
        why = first_lines or finding.clipped(room - 20)
        end = "was interrupted" if ended.note == "interrupted" else "failed" + code
        return f"{named} {end}: {why}" if why else f"{named} {end}"
    if ended.note and ended.note not in ended.output:
        shown = gist(ended.output, 120)
        return f"{named}: {ended.note}" + (f" — {shown}" if shown else "")
    if finding.is_bad:
        return f"{named} reported failures: {finding.clipped(room - 20)}"
    if finding.verdicts:
        return f"{named}: {Finding(finding.verdicts, [], '', False).clipped(min(room, 220))}"
    shown = gist(ended.output, min(room - 4, 200))
    return f"{named}: {shown}" if shown else f"{named}: no output"


def _committed(command: str, cwd: str | None, ended: Ended) -> str | None:
    """ "Committed 5177de5 on main: Reject expired tokens (2 files changed)"; None for anything else.

    Git's own line says it, and only of a command that commits in this repository: a script that is printed, a loop over
    other commits and a scratch repository have such lines too.
    """
    if "commit" not in command or ended.has_failed or not _commits_here(command, cwd):
        return None
    commit = _COMMITTED.search(ended.output)
    if commit is None:
        return None
    changes = _FILE_CHANGES.search(ended.output)
    tail = f" ({one_line(changes[1])})" if changes else ""
    how = _AMENDED if "--amend" in _without_quotes(command) else "Committed"
    return f"{how} {commit[2]} on {commit[1]}: {clip(commit[3], 240)}{tail}"


def _without_quotes(command: str) -> str:
    """Return a command without what it quotes, which may say anything."""
    text = command[:_COMMAND_LOOKED_AT]
    return _QUOTED.sub('""', _HEREDOC.sub("", text) if "<<" in text else text)


def _commits_here(command: str, cwd: str | None) -> bool:
    """Whether one of a line's commands is `git commit`, and none before it goes to another folder."""
    for part in _NEXT.split(_without_quotes(command)):
        words = part.split()
        while words and _is_assignment(words[0]):
            if "$" in words[0]:  # what it is nobody can tell, and a later `cd` may go there
                return False
            words.pop(0)
        program, *rest = words or [""]
        if program == "git":
            verb, places = _git_verb(rest)
            if verb == "commit" or not all(_is_here(each, cwd) for each in places):
                return verb == "commit" and all(_is_here(each, cwd) for each in places)
            if verb in ("init", "clone"):
                return False
        elif program == "mktemp" or (program in ("cd", "pushd") and not _is_here("".join(rest[:1]), cwd)):
            return False
    return False


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def _git_verb(words: list[str]) -> tuple[str, list[str]]:
    """Return git's subcommand and the folders that its own options name."""
    places: list[str] = []
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            return word, places
        option, _, value = word.partition("=")
        if option in _VALUED and not value:
            value = next(rest, "")
        if option in _PLACES:
            places.append(value)
    return "", places


def _is_here(folder: str, cwd: str | None) -> bool:
    """Whether a folder that a command names is within the repository it runs in, as far as its name tells."""
    folder = folder.strip("\"'")
    if not folder.startswith(("/", "~", "$")):
        return True
    root = (cwd or "").rstrip("/")
    return bool(root) and (folder == root or folder.startswith(f"{root}/") or root.startswith(f"{folder.rstrip('/')}/"))


def _opened_pull_request(command: str, ended: Ended) -> str | None:
    match = _PULL_REQUEST.search(command[:_COMMAND_LOOKED_AT])
    if match is None or ended.has_failed:
        return None
    url = re.search(r"https://\S{1,160}/pull/\d+", ended.output)
    return f"Opened pull request: {match[1] or match[2]}" + (f" ({url[0]})" if url else "")


def _posted(command: str, ended: Ended) -> str | None:
    """ "Posted by `gh api repos/…/comments/7/replies`: Fixed in 378b6b7 …"."""
    match = _POSTED.search(command[:_COMMAND_LOOKED_AT])
    if match is None or ended.has_failed:
        return None
    said = (match[1] or match[2]).replace("\\", "")
    return f"Posted by `{clip(match[0].partition(' -')[0], 80)}`: {clip(said, 290)}"


def _with_purpose(said: str, call: Call) -> str:
    """Add what the agent said the command was for: words that people search by."""
    purpose = clip(first_text(call.input, "description", "justification"), 90).rstrip(".")
    if not purpose or purpose.lower() in said.lower() or len(said) + len(purpose) > 390:
        return said
    return f"{said} [{purpose}]"


def _confidence(call: Call, ended: Ended, finding: Finding, *, is_said: bool) -> float:
    if finding.understood or ended.exit_code is not None or (is_said and call.outcome == "ok"):
        return SEEN
    return THIN if call.outcome is None else SPOKEN
