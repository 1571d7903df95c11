"""What an event says: the files that a call read or changed, with their symbols, imports and manifests; the commands
that do something for the project, the tests and errors that they told of; commits, branches, issues, packages.

Prose in what a tool printed, or the web said, is nobody's word: no sentence of it is read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from siftd.facts.command_kinds import does
from siftd.facts.command_lines import LINE_CHARS_MAX, Part, below, parts_of
from siftd.facts.learnt_errors import faults_of
from siftd.graph.git import read_git, rename_file
from siftd.graph.imports import is_source, read_imports
from siftd.graph.manifests import is_manifest, read_manifest
from siftd.graph.model import Found, Link, Named
from siftd.model import Action

OUTPUT_CHARS_MAX = 64_000
WRITTEN_CHARS_MAX = 1_048_576
SYMBOLS_MAX = 32
TESTS_MAX = 64
_FAILED = re.compile(r"FAILED ([\w./-]{1,200}\.py)(::[\w:\[\]. -]{1,200}?)?(?: - ([^\n]{1,200}))?\s{0,8}\Z")
_GO_FAILED = re.compile(r"\s{0,16}--- FAIL: ([A-Z][\w/]{1,200})")
_JEST_FAILED = re.compile(r"\s{0,8}(?:FAIL|❯)\s{1,4}([\w./@-]{1,200}\.(?:test|spec)\.[cm]?[jt]sx?)\b")
_CARGO_FAILED = re.compile(r"test ([\w:]{1,200}) \.\.\. FAILED\Z")
_INSTALLS: dict[tuple[str, ...], int] = {
    each: len(each)
    for each in (
        ("pip", "install"), ("pip3", "install"), ("uv", "add"), ("uv", "pip", "install"), ("poetry", "add"),
        ("npm", "install"), ("npm", "i"), ("npm", "add"), ("pnpm", "add"), ("yarn", "add"), ("bun", "add"),
        ("cargo", "add"), ("go", "get"), ("gem", "install"), ("bundle", "add"), ("composer", "require"),
    )
}  # fmt: skip
_PACKAGE = re.compile(
    r"(@?[A-Za-z0-9][A-Za-z0-9._/-]{0,120}?)(?:\[[\w,-]{1,60}\])?(?:(?:[=<>~!^]=?|@)[\w.*^~<>=,-]{0,60})?"
)
_NO_PACKAGE = (".txt", ".toml", ".whl", ".gz", ".zip", ".git", "/")


class Happened(NamedTuple):
    """An event, as far as the graph is made of it."""

    action: Action | None
    outcome: str | None
    branch: str | None
    command: str | None
    """The line that a shell was given."""
    output: str
    paths: tuple[str, ...]
    symbols: tuple[str, ...]
    written: str | None
    """The whole new content of the first path, where the call gave it."""


class Problem(NamedTuple):
    """A manifest that was not read."""

    path: str
    why: str


def read_event(found: Found, event: Happened, root: str, project: Named) -> list[Problem]:
    """Note what an event says; return the manifests in it that could not be read."""
    files = [below_root for path in event.paths if (below_root := below(path, "", root)) is not None and below_root]
    branch = Named("branch", event.branch) if event.branch else None
    problems: list[Problem] = []
    for at, path in enumerate(files):
        file = Named("file", path)
        if not found.name(file) or event.action != "edit":
            continue
        if branch is not None:
            found.link(Link(branch, "EDITS", file, "call"))
        for symbol in event.symbols[:SYMBOLS_MAX] if at == 0 else ():
            found.link(Link(Named("symbol", symbol), "PART_OF", file, "code"))
        if at == 0 and event.written is not None and event.outcome != "failed":
            problems += read_file(found, path, event.written[:WRITTEN_CHARS_MAX], project)
    if event.action == "run" and event.command:
        _read_command(found, event, root, project)
    return problems


def read_file(found: Found, path: str, text: str, project: Named) -> list[Problem]:
    """Note what the text of a source file or a manifest says; return what could not be read."""
    if is_manifest(path):
        result = read_manifest(found, path, text, project)
        return [Problem(path, result.problem)] if result.problem else []
    if is_source(path):
        read_imports(found, path, text)
    return []


def _read_command(found: Found, event: Happened, root: str, project: Named) -> None:
    output = event.output[:OUTPUT_CHARS_MAX]
    has_failed = event.outcome == "failed"
    commands: list[Named] = []
    for part in _parts(event.command or ""):
        folder = "" if part.folder is None else below(part.folder, "", root)
        if folder is None:  # elsewhere
            continue
        program = part.words[0].rpartition("/")[2]
        if program == "git":
            arguments = _after_options(part.words[1:])
            read_git(found, arguments, output, project=project, folder=folder, has_failed=has_failed)
            continue
        if program == "mv" and not has_failed:
            _read_move(found, part.words[1:], folder, root)
        _read_install(found, part.words, project, has_failed=has_failed)
        done = does(part, "")
        if done is not None:
            command = Named("command", done.command)
            found.link(Link(command, "USES", Named("tool", program), "call"))
            commands.append(command)
    tests = list(_tests_of(output))
    for test, file, error in tests[:TESTS_MAX]:
        found.name(test)
        if file is not None:
            found.link(Link(test, "PART_OF", file, "call"))
        if error is not None:
            found.link(Link(error, "RELATED_TO", test, "call"))
    if has_failed and commands:
        for fault in faults_of(output):
            found.link(Link(Named("error", fault.signature), "RELATED_TO", commands[-1], "call"))


def _parts(line: str) -> list[Part]:
    """Return the programs of a line; of a commit with a long message, which no shell is needed to read, that too."""
    if len(line) <= LINE_CHARS_MAX:
        return parts_of(line)
    return []


def _after_options(words: Sequence[str]) -> Sequence[str]:
    """Return the arguments of git behind its own options."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in ("-C", "-c", "--git-dir", "--work-tree") else 1
    return words[at:]


def _read_move(found: Found, arguments: Sequence[str], folder: str, root: str) -> None:
    """Note that a file was renamed by hand: one that keeps its ending, so that no folder is taken for a file."""
    if len(arguments) != 2 or any(each.startswith("-") or "*" in each for each in arguments):
        return
    old, new = (below(each, folder, root) for each in arguments)
    ending = old.rpartition(".")[2] if old else ""
    if old and new and ending and "/" not in ending and new.endswith(f".{ending}"):
        rename_file(found, old, new)


def _read_install(found: Found, words: Sequence[str], project: Named, *, has_failed: bool) -> None:
    length = next((n for n in (3, 2) if tuple(words[:n]) in _INSTALLS), 0)
    if not length or has_failed:
        return
    for each in words[length:]:
        if each.startswith("-r"):
            return
        if each.startswith(("-", ".")) or each.endswith(_NO_PACKAGE) or "://" in each:
            continue
        if match := _PACKAGE.fullmatch(each):
            found.link(Link(project, "USES", Named("package", match[1]), "call"))


def _tests_of(output: str) -> Iterator[tuple[Named, Named | None, Named | None]]:
    """Yield the tests that an output says have failed: (test, its file, its error)."""
    for line in output.splitlines():
        line = line[:600]
        if match := _FAILED.match(line):
            error = Named("error", match[3].strip()[:160]) if match[3] else None
            file = Named("file", match[1])
            yield Named("test", f"{match[1]}{match[2] or ''}"), file, error
        elif match := _GO_FAILED.match(line) or _CARGO_FAILED.match(line):
            yield Named("test", match[1]), None, None
        elif match := _JEST_FAILED.match(line):
            yield Named("test", match[1]), Named("file", match[1]), None
