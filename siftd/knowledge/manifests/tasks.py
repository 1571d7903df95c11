"""What runs anything: Makefiles, justfiles, scripts of the project's own, CI, pre-commit, and what documents say."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from siftd.facts.command_kinds import does
from siftd.facts.command_lines import parts_of
from siftd.knowledge.manifests.declared import Declared, folder_of
from siftd.knowledge.model import COMMAND_KINDS, CommandKind
from siftd.knowledge.tree import Tree

_TARGET = re.compile(r"([A-Za-z][\w.-]{0,60})(?:\s[\w =\"'*+-]{0,80})?:(?!=)")
_TASK = re.compile(r"  ([A-Za-z][\w:.-]{0,60}):\s{0,20}")
_RUN = re.compile(r"\s{0,60}(?:- )?(?:run|script):\s{0,20}(.{0,400})")
_PROMPT = re.compile(r"\s{0,20}(?:\([\w.-]{1,30}\)\s?)?[$%>]\s{1,4}(.{1,300})")
_FENCE = re.compile(r"\s{0,12}(?:```|~~~)")
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile")
_JUSTFILES = ("justfile", "Justfile", ".justfile")
_GUIDES = re.compile(
    r"(?:\.github/|docs?/(?:[\w-]{1,40}/){0,2})?(?:CONTRIBUTING|DEVELOPMENT|HACKING|DEVELOPING|contributing|development"
    r"|README|AGENTS|CLAUDE|the_basics)\.(?:md|rst|txt|markdown)"
)
"""Documents that say how one works here."""
_CI = re.compile(
    r"\.github/workflows/[\w .-]{1,80}\.ya?ml|\.gitlab-ci\.yml|\.circleci/config\.yml|azure-pipelines\.yml"
    r"|\.travis\.yml"
)
_SCRIPT = re.compile(r"(scripts?|bin|tools?|ci|hack)/([\w-]{1,40})(?:\.(?:sh|py|bash))?")
_KINDS: dict[str, CommandKind] = {each: each for each in COMMAND_KINDS}
_LINES_MAX = 5_000
GUIDE_RANK = 40
CI_RANK = 45
_QUOTED = (GUIDE_RANK, GUIDE_RANK + 3, CI_RANK, CI_RANK + 3)
_BY_NAME = re.compile(r"(?:npm|pnpm|yarn|bun)(?: run)? ([\w:.-]{1,60})|(?:make|just|task) ([\w.-]{1,60})")


def is_ci(path: str) -> bool:
    return bool(_CI.fullmatch(path))


def is_guide(path: str) -> bool:
    return bool(_GUIDES.fullmatch(path))


def read(tree: Tree, path: str, into: Declared) -> None:
    """Read one file that says what is run."""
    name, folder = path.rpartition("/")[2], folder_of(path)
    if name in _MAKEFILES:
        _targets(tree, path, into, "make", _TARGET)
    elif name in _JUSTFILES:
        _targets(tree, path, into, "just", _TARGET)
    elif name == "Taskfile.yml":
        _targets(tree, path, into, "task", _TASK)
    elif name == ".pre-commit-config.yaml":
        into.offer("lint", "pre-commit run --all-files", f"{path}:1", 35, where=folder)
        into.convene("pre-commit is set up", f"{path}:1")
    elif is_ci(path):
        into.convene("CI is set up", f"{path}:1")
        for number, line in _ci_lines(tree.lines(path)):
            _line(into, line, "", f"{path}:{number}", CI_RANK)
    elif is_guide(path):
        for number, line in _shell_lines(tree.lines(path)):
            _line(into, line, "", f"{path}:{number}", GUIDE_RANK)


def read_scripts(tree: Tree, into: Declared) -> None:
    """Take the project's own programs whose names say what they do: `scripts/test`."""
    for path in tree.paths:
        if _SCRIPT.fullmatch(path) and os.access(f"{tree.root}/{path}", os.X_OK):
            _line(into, f"./{path}", "", f"{path}:1", 12)


def leave_out_undeclared(into: Declared) -> None:
    """Leave out what documents and CI run by a name that no manifest declares: it is of another project."""
    declared = {each.command for each in into.offered if each.rank not in _QUOTED}
    names = {name for each in declared if (found := _BY_NAME.fullmatch(each)) for name in found.groups() if name}
    into.offered = [
        each
        for each in into.offered
        if each.command in declared
        or (found := _BY_NAME.match(each.command)) is None
        or any(name in names for name in found.groups() if name)
    ]


def _targets(tree: Tree, path: str, into: Declared, program: str, pattern: re.Pattern[str]) -> None:
    for number, line in enumerate(tree.lines(path)[:_LINES_MAX], start=1):
        if found := pattern.match(line):
            _line(into, f"{program} {found[1]}", folder_of(path), f"{path}:{number}", 10 if not folder_of(path) else 30)


def _line(into: Declared, line: str, where: str, evidence: str, rank: int) -> None:
    """Offer what a line of a shell does for the whole project."""
    for part in parts_of(line):
        found = does(part)
        if found is None or part.folder is not None:
            continue
        kind = _KINDS.get(found.kind)
        if kind is not None and not (rank == GUIDE_RANK and kind == "run"):  # it says how what is made here is used
            less = 3 if found.variant else 0
            less += 20 if kind == "format" and "--check" in found.command else 0  # looks, and formats nothing
            into.offer(kind, found.command, evidence, rank + less, where=where)


def _ci_lines(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that steps of CI run, as far as indentation tells them."""
    block = 0
    for number, line in enumerate(lines[:_LINES_MAX], start=1):
        indent = len(line) - len(line.lstrip())
        if block and line.strip() and indent <= block - 1:
            block = 0
        if block and line.strip():
            yield number, line.strip()
            continue
        if found := _RUN.match(line):
            if found[1].strip() in ("|", ">", "|-", ">-", ""):
                block = indent + 1
            else:
                yield number, found[1].strip().strip("\"'")


def _shell_lines(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a document that are typed: behind a prompt, or alone within a fence."""
    is_fenced = False
    for number, line in enumerate(lines[:_LINES_MAX], start=1):
        if _FENCE.match(line):
            is_fenced = not is_fenced
        elif found := _PROMPT.match(line):
            yield number, found[1].partition(" #")[0].strip()
        elif is_fenced or line.startswith("    "):
            yield number, line.partition(" #")[0].strip()
