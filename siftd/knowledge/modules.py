"""Folders of code as modules: what is in each, what it says of itself, what imports what, where its tests lie."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from siftd.knowledge.languages import is_test, kind_of, language_of
from siftd.knowledge.model import Module
from siftd.knowledge.relations import Resolver
from siftd.knowledge.tree import Tree
from siftd.symbols.imports import imports_of

MODULES_MAX = 120
"""Of a larger tree the deepest folders are told with the one above."""
EDGES_MAX = 30
MAIN_FILES_MAX = 5
PRINTS_MAX = 40
SAYS_CHARS_MAX = 200
_HEAD_LINES = 60
_DOC_OPENING = re.compile(r"\s{0,4}[rRbBuU]{0,2}(\"\"\"|''')(.{0,400})")
_COMMENT = re.compile(r"\s{0,8}(?://!?|\*|#)\s{1,4}(.{1,400})")
_SENTENCE = re.compile(r"(.{10,1000}?[.!?])(?:\s|$)")
_NO_PURPOSE = re.compile(
    r"\W{0,4}(?:copyright|licen[cs]e|spdx|warning|note|todo|fixme|this (?:file|module) is)\b", re.IGNORECASE
)
_FIRST_FILES = (
    *("__init__.py", "doc.go", "mod.rs", "lib.rs", "main.rs", "package-info.java"),
    *("index.ts", "index.js", "main.go", "__main__.py"),
)


class Edge(NamedTuple):
    """A file that imports another."""

    path: str
    line: int
    to: str


def edges_of(tree: Tree, resolver: Resolver) -> list[Edge]:
    """Return which file of the project imports which, in order, each pair once."""
    found: list[Edge] = []
    for path in tree.code:
        seen: set[str] = set()
        for line, name in imports_of(path, tree.lines(path)):
            to = resolver.resolve(path, name)
            if to and to != path and to not in seen:
                seen.add(to)
                found.append(Edge(path, line, to))
    return found


def modules_of(tree: Tree, edges: Sequence[Edge]) -> list[Module]:
    """Return the modules in order of their paths."""
    home = _homes(tree.code)
    files: dict[str, list[str]] = defaultdict(list)
    for path in tree.code:
        files[home[path]].append(path)
    lines_between: dict[str, dict[str, list[Edge]]] = defaultdict(lambda: defaultdict(list))
    needed: Counter[str] = Counter()
    tested: dict[str, Counter[str]] = defaultdict(Counter)
    for edge in edges:
        if edge.to not in home:
            continue
        ours, theirs = home[edge.path], home[edge.to]
        needed[edge.to] += 1
        if ours != theirs:
            lines_between[ours][theirs].append(edge)
        if is_test(edge.path) and not is_test(edge.to):
            tested[theirs][edge.path] += 1
    importers = _importers(lines_between)
    return [
        _module(
            tree, folder, paths, lines_between[folder], importers.get(folder, ()), needed, tested.get(folder, Counter())
        )
        for folder, paths in sorted(files.items())
    ]


def _homes(paths: Sequence[str]) -> dict[str, str]:
    """Return the module of each file: its folder, or one above where there are too many.

    What lies below a folder of tests, examples or documents is all of that one.
    """
    home = {path: _module_folder(path.rpartition("/")[0]) for path in paths}
    while len(folders := set(home.values())) > MODULES_MAX:
        deepest = max(each.count("/") + bool(each) for each in folders)
        if deepest <= 1:
            break
        home = {
            path: folder.rpartition("/")[0] if folder.count("/") + bool(folder) == deepest else folder
            for path, folder in home.items()
        }
    return home


def _module_folder(folder: str) -> str:
    parts = folder.split("/")
    tops = ("/".join(parts[:many]) for many in range(1, len(parts) + 1))
    return next((each for each in tops if kind_of(each) in ("tests", "examples", "docs")), folder)


def _importers(between: Mapping[str, Mapping[str, list[Edge]]]) -> dict[str, list[str]]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for ours, others in between.items():
        for theirs, edges in others.items():
            found[theirs][ours] += len(edges)
    return {each: _most(counted) for each, counted in found.items()}


def _most(counted: Counter[str], most: int = EDGES_MAX) -> list[str]:
    return [name for name, _ in sorted(counted.items(), key=lambda each: (-each[1], each[0]))[:most]]


def _module(
    tree: Tree,
    folder: str,
    paths: Sequence[str],
    between: Mapping[str, list[Edge]],
    importers: Sequence[str],
    needed: Counter[str],
    tested: Counter[str],
) -> Module:
    languages = Counter(language_of(path) for path in paths)
    says, said_at = _says(tree, folder, paths)
    shown = [said_at] if said_at else [f"{paths[0]}:1"]
    most = _most(Counter({theirs: len(edges) for theirs, edges in between.items()}))
    shown += [f"{between[theirs][0].path}:{between[theirs][0].line}" for theirs in most[:MAIN_FILES_MAX]]
    listed = "".join(f"{path} {tree.hash(path)}\n" for path in paths)
    kind = kind_of(folder)
    return Module(
        path=folder,
        kind="tests" if kind == "code" and folder and all(map(is_test, paths)) else kind,
        language=_most(languages, 1)[0],
        files=len(paths),
        lines=sum((tree.read(path) or "").count("\n") for path in paths),
        says=says,
        main_files=tuple(_most(Counter({each: needed[each] for each in paths if needed[each] > 1}), MAIN_FILES_MAX)),
        imports=tuple(most),
        imported_by=tuple(importers),
        tests=tuple(_most(tested, MAIN_FILES_MAX)),
        hash=sha256(listed.encode()).hexdigest()[:16],
        prints=tuple(sorted({tree.hash(path) for path in paths if len(tree.read(path) or "") > 80})[:PRINTS_MAX]),
        evidence=tuple(dict.fromkeys(shown)),
    )


def _says(tree: Tree, folder: str, paths: Sequence[str]) -> tuple[str, str]:
    """Return the first sentence of what a folder's first file says of it, and where; ("", "") where it says nothing."""
    first = {path.rpartition("/")[2]: path for path in paths if path.rpartition("/")[0] == folder}
    named = [f"{folder.rpartition('/')[2]}.go"] if folder else []
    for name in (*_FIRST_FILES, *named):
        if name in first and (found := _opening(tree, first[name])):
            return found
    return "", ""


def _opening(tree: Tree, path: str) -> tuple[str, str] | None:
    lines = tree.lines(path)[:_HEAD_LINES]
    language = language_of(path)
    for number, line in enumerate(lines, start=1):
        if language == "Python":
            found = _DOC_OPENING.match(line)
            if found is None:
                if line.strip() and not line.lstrip().startswith("#"):
                    return None
                continue
            rest = [found[2], *lines[number : number + 6]]
            return _sentence(_until(rest, found[1])), f"{path}:{number}"
        if language == "Go" and line.startswith("package "):
            comments = [each[3:] for each in _above(lines, number - 1)]
            return (_sentence(comments), f"{path}:{number}") if comments else None
        if language == "Rust" and line.startswith("//!"):
            return _sentence(
                [each[3:] for each in lines[number - 1 : number + 5] if each.startswith("//!")]
            ), f"{path}:{number}"
    return None


def _above(lines: Sequence[str], at: int) -> list[str]:
    start = at
    while start and lines[start - 1].startswith("// "):
        start -= 1
    return list(lines[start:at])


def _until(lines: Sequence[str], quote: str) -> list[str]:
    taken = []
    for line in lines:
        taken.append(line.partition(quote)[0])
        if quote in line:
            break
    return taken


def _sentence(lines: Sequence[str]) -> str:
    """Return the first sentence of the first paragraph."""
    taken: list[str] = []
    for line in lines:
        if taken and not line.strip():
            break
        taken += [line.strip()] if line.strip() else []
    text = " ".join(" ".join(taken).split())
    if _NO_PURPOSE.match(text):
        return ""
    found = _SENTENCE.match(text[:1_000])
    return (found[1] if found else text)[:SAYS_CHARS_MAX]
