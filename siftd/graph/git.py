"""What git says: who made a commit, which issue it is about, what was renamed, which branch there is.

Read from command lines and from what git printed, never asked of a repository. Addresses of mail are left out: a
person is who they are called.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from siftd.graph.model import Found, Link, Named

LINES_MAX = 2_000
LINE_CHARS_MAX = 500
_TRAILER = re.compile(
    r"\s{0,8}(co-authored-by|authored-by|signed-off-by|reviewed-by|tested-by|reported-by|suggested-by)\s{0,4}:\s{0,4}"
    r"([^<>\n]{1,100}?)\s{0,4}(?:<[^<>\n]{0,200}>)?\s{0,8}\Z",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"\b(?:fix(?:es|ed)?|clos(?:e|es|ed)|resolv(?:e|es|ed)|refs?|references|relates to|see|part of|implements)\b"
    r"[\s:]{0,4}((?:[\w.-]{1,60}/[\w.-]{1,60})?#\d{1,9}|[A-Z][A-Z0-9]{1,9}-\d{1,7})\b",
    re.IGNORECASE,
)
_KEY = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d{1,7}|(?:[\w.-]{1,60}/[\w.-]{1,60})?#\d{1,9}")
_COMMITTED = re.compile(r"\[(?:detached HEAD|([\w./-]{1,200}))(?: \(root-commit\))? ([0-9a-f]{7,40})\] ")
_COMMIT = re.compile(r"commit ([0-9a-f]{7,40})\b")
_AUTHOR = re.compile(r"(?:Author|Commit):\s{1,8}([^<>\n]{1,100}?)\s{0,4}<")
_RENAMED = re.compile(
    r"\s{0,20}renamed?:?\s{1,12}(\S[^\n]{0,300}?) (?:->|=>) (\S[^\n]{0,300}?)(?: \(\d{1,3}%\))?\s{0,4}\Z"
)
_BRACES = re.compile(r"([^{}\s]{0,200})\{([^{}]{0,200}) => ([^{}]{0,200})\}([^{}\s]{0,200})")
_DIFF_FROM = re.compile(r"rename from (\S[^\n]{0,300})\Z")
_DIFF_TO = re.compile(r"rename to (\S[^\n]{0,300})\Z")
_CREATED = re.compile(r"\s{0,4}(?:create|delete) mode \d{6} (\S[^\n]{0,300})\Z")
_BRANCH = re.compile(r"[\w][\w./-]{0,199}")
_MADE_BY = frozenset(("co-authored-by", "authored-by", "signed-off-by"))


def read_git(
    found: Found, arguments: Sequence[str], output: str, *, project: Named | None, folder: str, has_failed: bool
) -> None:
    """Note what a call of git says: its arguments, `git` left out, and what it printed. `folder`: where it ran."""
    if not arguments or has_failed:
        return
    verb, rest = arguments[0], [each for each in arguments[1:] if not each.startswith("-")]
    if verb == "mv" and len(rest) == 2:
        old, new = (f"{folder}/{each}" if folder else each for each in rest)
        rename_file(found, old, f"{new}{old.rpartition('/')[2]}" if new.endswith("/") else new)
    elif verb == "branch" and any(each in ("-m", "-M", "--move") for each in arguments) and len(rest) == 2:
        _rename(found, Named("branch", rest[0]), Named("branch", rest[1]))
    elif verb in ("checkout", "switch", "branch", "merge", "push") and rest and _BRANCH.fullmatch(rest[-1]):
        is_new = any(each in ("-b", "-B", "-c", "-C") for each in arguments)
        if is_new or verb in ("switch", "merge"):
            found.name(Named("branch", rest[0] if is_new else rest[-1]))
    commit: Named | None = None
    if verb in ("commit", "cherry-pick", "revert", "merge"):
        commit = _committed(found, output)
    if verb == "commit":
        read_message(found, _message_of(arguments), commit, project=project)
    if verb in ("log", "show", "commit", "status", "diff", "merge", "pull"):
        read_printed(found, output, project=project, commit=commit)


def read_printed(found: Found, output: str, *, project: Named | None = None, commit: Named | None = None) -> None:
    """Note the commits, authors, trailers, issues and renames that git has printed."""
    renamed_from = ""
    for line in output.splitlines()[:LINES_MAX]:
        line = line[:LINE_CHARS_MAX]
        if match := _COMMIT.match(line):
            commit = Named("commit", match[1])
            found.name(commit)
        elif match := _AUTHOR.match(line):
            _made_by(found, match[1], commit, project)
        elif match := _DIFF_FROM.match(line):
            renamed_from = match[1]
        elif (match := _DIFF_TO.match(line)) and renamed_from:
            rename_file(found, renamed_from, match[1])
            renamed_from = ""
        elif "rename" in line and (match := _BRACES.search(line)):
            old, new = (f"{match[1]}{match[at]}{match[4]}".replace("//", "/") for at in (2, 3))
            rename_file(found, old, new)
        elif match := _RENAMED.match(line):
            rename_file(found, match[1], match[2])
        elif commit is not None and (match := _CREATED.match(line)):
            found.link(Link(commit, "EDITS", Named("file", match[1]), "git"))
        elif commit is not None and line.startswith("    "):
            _message_line(found, line.strip(), commit, project)


def read_message(found: Found, message: str, commit: Named | None, *, project: Named | None = None) -> None:
    """Note the trailers and the issues of a commit's message."""
    for line in message.splitlines()[:LINES_MAX]:
        _message_line(found, line[:LINE_CHARS_MAX], commit, project)


def rename_file(found: Found, old: str, new: str) -> None:
    """Note that a file has another name now."""
    _rename(found, Named("file", old.strip().removeprefix("./")), Named("file", new.strip().removeprefix("./")))


def _rename(found: Found, old: Named, new: Named) -> None:
    if old.name and new.name and old != new:
        found.alias(new, old.name)
        found.link(Link(old, "RENAMED_TO", new, "git"))


def _committed(found: Found, output: str) -> Named | None:
    for line in output.splitlines()[:50]:
        if match := _COMMITTED.match(line[:LINE_CHARS_MAX]):
            commit = Named("commit", match[2])
            found.name(commit)
            if match[1]:
                found.link(Link(commit, "PART_OF", Named("branch", match[1]), "git"))
            return commit
    return None


def _message_of(arguments: Sequence[str]) -> str:
    """Return what was given with -m, one paragraph each."""
    given: list[str] = []
    for at, each in enumerate(arguments):
        if each in ("-m", "--message", "-am", "--trailer") and at + 1 < len(arguments):
            given.append(arguments[at + 1])
        elif each.startswith("--message="):
            given.append(each.partition("=")[2])
    return "\n".join(given)


def _message_line(found: Found, line: str, commit: Named | None, project: Named | None) -> None:
    if match := _TRAILER.match(line):
        if match[1].lower() in _MADE_BY:
            _made_by(found, match[2], commit, project)
        elif commit is not None:
            found.link(Link(commit, "RELATED_TO", Named("person", match[2].strip()), "git"))
    for key in _ABOUT.findall(line):
        if _KEY.fullmatch(key):
            issue = Named("issue", key)
            if commit is None:
                found.name(issue)
            else:
                found.link(Link(commit, "REFERENCES", issue, "git"))


def _made_by(found: Found, name: str, commit: Named | None, project: Named | None) -> None:
    person = Named("person", name.strip())
    if commit is not None:
        found.link(Link(commit, "CREATED_BY", person, "git"))
    if project is not None:
        found.link(Link(person, "WORKS_ON", project, "git"))
    found.name(person)
