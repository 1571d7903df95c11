"""The commits of a session, from the commands that made them: subject, sentences, and which of them mend something.

A commit's message is the agent's own account of a change, kept by the project in its history. It is read from the
command, and that the commit was made from git's own line (`siftd.summarise.extractive.shell`).
"""

from __future__ import annotations

import re

from siftd.notes.distil.material import Commit
from siftd.summarise.extractive.text import one_line, sentences

_HEREDOC = re.compile(r"<<-?[ ]{0,4}['\"]?(\w{1,40})['\"]?[^\n]{0,200}\n")
_MESSAGE = re.compile(
    r"(?:^|\s)(?:-\w{0,6}m|--message)(?:=|\s{1,4})(\"(?:[^\"\\]|\\.){1,8000}\"|'[^']{1,8000}')", re.DOTALL
)
_TRAILER = re.compile(
    r"[A-Z][A-Za-z]{1,30}(?:-[A-Za-z]{1,30}){1,4}: |🤖|Generated with|(?:Closes|Fixes|Refs|Addresses)\b.{0,80}#\d"
)
_ITEM = re.compile(r"\s{0,20}(?:[-*•+]|\d{1,3}[.)])\s")
_LOOKED_AT = 12_000
_LINES_MAX = 200
_SENTENCES_MAX = 24
_KIND = re.compile(r"(?P<kind>[a-z]{2,12})(?:\([^)\n]{0,60}\))?!?:\s{1,4}", re.IGNORECASE)
_FIXES = re.compile(
    r"(?:fix|bugfix|hotfix)(?:es|ed|ing)?\b|.{0,80}\b(?:regression|crash|deadlock|race condition|data loss)\b",
    re.IGNORECASE,
)
_TIDIES = re.compile(
    r"\b(?:lint(?:er|ing)?|gofmt|fmt|format(?:ting)?|typos?|spelling|style|comments?|review|feedback|nits?|imports?|merge"
    r"|conflicts?|nolint|whitespace|wording|bump|changelog|readme|compile|build errors?|type errors?|rebase)\b",
    re.IGNORECASE,
)
"""What a commit that mends says when it mends no behaviour."""
_NOTES_TODO = re.compile(
    r"(?:add|capture|log|record|note|create)s?(?:ed)? (?:an? |the )?(?:(?P<before>[^:]{1,100}) )?todo(?P<many>s)?\b"
    r"(?:(?: for|:| -| —| to) (?P<behind>.{1,160}))?",
    re.IGNORECASE,
)
_TODOS_MAX = 4
_QUIET = frozenset(("style", "chore", "ci", "wip", "merge", "revert", "build", "release"))


def message_of(command: str) -> str:
    """Return the message that a command gives to `git commit`; empty where it gives none."""
    text = command[:_LOOKED_AT]
    place = text.find("commit")
    text = text[place:] if place >= 0 else ""
    if opening := _HEREDOC.search(text):
        lines = text[opening.end() :].split("\n")
        end = next((at for at, line in enumerate(lines) if line.strip() == opening[1]), len(lines))
        return "\n".join(lines[:end])
    parts = [match[1][1:-1].replace('\\"', '"').replace("\\`", "`") for match in _MESSAGE.finditer(text)]
    return "\n\n".join(parts)


def prose_in(message: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sentences of a message behind its subject, and the entries of its lists; without trailers."""
    _, _, rest = message.strip().partition("\n")
    prose: list[str] = [""]
    items: list[str] = []
    is_item = False
    for line in rest.split("\n")[:_LINES_MAX]:
        if _TRAILER.match(line.strip()):
            break
        if entry := _ITEM.match(line):
            items.append(line[entry.end() :])
            is_item = True
        elif not line.strip():
            prose.append("")
            is_item = False
        elif is_item and line[:1].isspace():
            items[-1] += f" {line.strip()}"
        else:
            prose[-1] += f" {line.strip()}"
            is_item = False
    found = [each for text in prose for each in sentences(one_line(text)) if len(each) > 20 and each[-1] != ":"]
    return tuple(found[:_SENTENCES_MAX]), tuple(one_line(each) for each in items[:_SENTENCES_MAX])


def title_of(subject: str) -> str:
    """Return a subject without what kind of change it names."""
    kind = _KIND.match(subject)
    title = (subject[kind.end() :] if kind else subject).rstrip(" .:")
    return title[:1].upper() + title[1:] if title[1:2].islower() else title


def mends(subject: str) -> bool:
    """Whether a commit mends how something behaves."""
    kind = _KIND.match(subject)
    rest = subject[kind.end() :] if kind else subject
    if kind and not kind["kind"].casefold().startswith(("fix", "bugfix", "hotfix")):
        return False
    return bool(kind or _FIXES.match(rest)) and not _TIDIES.search(rest)


def todos_in(commit: Commit) -> tuple[str, ...]:
    """Return what a commit only notes as to be done: "docs: add todo for lazy migration"."""
    noted = _NOTES_TODO.match(title_of(commit.subject))
    if noted is None:
        return ()
    if commit.items and noted["many"]:
        return commit.items[:_TODOS_MAX]
    text = noted["behind"] or noted["before"] or ""
    return (text,) if len(text.split()) > 1 else ()


def claims_to_mend(subject: str) -> bool:
    """Whether a commit says that it mends anything, if only a typo."""
    kind = _KIND.match(subject)
    return _FIXES.match(kind["kind"] if kind else subject) is not None


WEIGHT_ALONE = 2
"""From which on a commit says by itself what a session was about."""


def weight(subject: str) -> int:
    """Return how much a commit matters of its session: what it added or mended before what it tidied."""
    return (
        2 * matters(subject)
        - bool(_TIDIES.search(subject))
        - subject.casefold().startswith(("test", "docs", "fix test"))
    )


def matters(subject: str) -> bool:
    """Whether a commit changes what the project does."""
    kind = _KIND.match(subject)
    return not (kind and kind["kind"].casefold() in _QUIET) and not subject.startswith(("Merge ", "Revert ", "WIP"))
