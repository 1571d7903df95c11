"""A snapshot as a page for a new colleague, in Markdown: what this is, how to work here, where to look.

What a project says of itself is anybody's text. It stands in quotation marks, harmless and on one line; names and
commands stand in code. Nothing in it can begin a heading, a link or an image of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from siftd.harmless import harmless
from siftd.knowledge.model import Command, Module, Snapshot
from siftd.knowledge.staleness import Stale

MODULES_SHOWN = 60
NAMES_SHOWN = 6
_KINDS = {
    "build": "Build",
    "test": "Test",
    "lint": "Lint",
    "format": "Format",
    "types": "Check types",
    "check": "Check everything",
    "run": "Run",
}
BASES = {
    "seen": "seen to succeed here",
    "declared": "declared, not seen to run here",
    "usual": "how this tool is usually run; its settings are there",
}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~])")
_STALE = " **(changed since)**"


def page(snapshot: Snapshot, stale: Stale | None = None) -> str:
    """Return the page; what is `stale` is marked."""
    return "\n".join([*_lines(snapshot, stale or Stale())]) + "\n"


def _lines(snapshot: Snapshot, stale: Stale) -> Iterator[str]:
    yield f"# {plain(snapshot.overview.name)}"
    yield ""
    if snapshot.overview.says:
        yield f"{_at(snapshot.overview.evidence)} says: {quoted(snapshot.overview.says)}"
        yield ""
    if not stale.is_empty:
        yield f"Since this was taken, {stale.said}. `mem knowledge build` takes it again."
        yield ""
    if snapshot.prose is not None:
        yield f"{plain(snapshot.prose.text)} (written by {code(snapshot.prose.model)}, checked against the rest)"
        yield ""
    yield from _written_in(snapshot)
    yield from _commands(snapshot)
    yield from _ways_in(snapshot)
    yield from _modules(snapshot, stale)
    yield from _key_files(snapshot, stale.paths)
    yield from _packages(snapshot)
    yield from _conventions(snapshot)
    yield from _left_out(snapshot)


def _written_in(snapshot: Snapshot) -> Iterator[str]:
    if snapshot.languages:
        yield "## Written in"
        yield ""
        for each in snapshot.languages:
            version = f", {code(each.version)} ({_at(each.evidence)})" if each.version else ""
            yield f"- {plain(each.name)}: {_count(each.files, 'file')}{version}"
        yield ""


def _commands(snapshot: Snapshot) -> Iterator[str]:
    if snapshot.commands:
        yield "## How to build, test and run"
        yield ""
        for each in snapshot.commands:
            how = f"{BASES[each.basis]}: {_at(each.evidence)}"
            yield f"- {_KINDS[each.kind]}{_where(each)}: {code(each.command)} ({how})"
            if each.others:
                yield f"  - also: {', '.join(map(code, each.others))}"
        yield ""


def _where(command: Command) -> str:
    return f" in {code(command.where)}" if command.where else ""


def _ways_in(snapshot: Snapshot) -> Iterator[str]:
    if snapshot.entry_points:
        yield "## Ways in"
        yield ""
        for each in snapshot.entry_points:
            place = f", in {code(each.path)}" if each.path and each.path != each.target else ""
            yield f"- {each.kind} {code(each.name)}: {code(each.target)}{place} ({_at(each.evidence)})"
        yield ""


def _modules(snapshot: Snapshot, stale: Stale) -> Iterator[str]:
    if not snapshot.modules:
        return
    yield "## Modules"
    yield ""
    shown = [each for each in snapshot.modules if each.kind in ("code", "scripts")] or list(snapshot.modules)
    for each in shown[:MODULES_SHOWN]:
        yield f"- {code(each.path or '.')}{_STALE * (each.path in stale.modules)}: {_module(each)}"
        if each.imports:
            yield f"  - needs {_names(each.imports)}"
        if each.imported_by:
            yield f"  - needed by {_names(each.imported_by)}"
        if each.tests:
            yield f"  - tested by {_names(each.tests)}"
    if len(shown) > MODULES_SHOWN:
        yield f"- {len(shown) - MODULES_SHOWN} more"
    for kind in ("tests", "examples", "docs"):
        others = [each for each in snapshot.modules if each.kind == kind and each not in shown]
        if others:
            yield f"- {kind}: {_names([each.path for each in others])}"
    for path in stale.fresh:
        yield f"- {code(path or '.')}: new since"
    yield ""


def _module(module: Module) -> str:
    kind = "" if module.kind == "code" else f"{module.kind}, "
    said = f"; {_at(module.evidence)} says {quoted(module.says)}" if module.says else ""
    was = f"; it was {code(module.was)} ({_at(module.evidence[-1:])})" if module.was else ""
    return (
        f"{kind}{_count(module.files, 'file')} of {plain(module.language)}, {_count(module.lines, 'line')}{said}{was}"
    )


def _key_files(snapshot: Snapshot, stale: Collection[str]) -> Iterator[str]:
    if snapshot.key_files:
        yield "## Files that matter most"
        yield ""
        for each in snapshot.key_files:
            why = plain("; ".join(each.why))
            yield f"- {code(each.path)}{_STALE * (each.path in stale)}: {why} ({', '.join(map(_one, each.evidence))})"
        yield ""


def _packages(snapshot: Snapshot) -> Iterator[str]:
    if snapshot.packages:
        yield "## Packages"
        yield ""
        for each in snapshot.packages:
            version = f" {code(each.version)}" if each.version else ""
            place = f" in {code(each.path)}" if each.path else ""
            yield f"- {plain(each.ecosystem)} {code(each.name)}{version}{place} ({_at(each.evidence)})"
            if each.depends_on:
                yield f"  - needs of this project: {_names(each.depends_on, len(each.depends_on))}"
            if each.uses:
                yield f"  - needs of others: {_names(each.uses, 30)}"
        yield ""


def _conventions(snapshot: Snapshot) -> Iterator[str]:
    if snapshot.conventions:
        yield "## How things are done"
        yield ""
        for each in snapshot.conventions:
            yield f"- {plain(each.text)} ({_at(each.evidence)})"
        yield ""


def _left_out(snapshot: Snapshot) -> Iterator[str]:
    if snapshot.skipped or snapshot.left_out:
        yield "## Not read"
        yield ""
        for each in snapshot.skipped:
            yield f"- {code(each.path)}: {plain(each.why)}"
        if snapshot.left_out:
            yield f"- {_count(snapshot.left_out, 'file')} beyond the limit"
        yield ""


def _names(names: Sequence[str], most: int = NAMES_SHOWN) -> str:
    more = len(names) - most
    return ", ".join(code(each or ".") for each in names[:most]) + (f" and {more} more" if more > 0 else "")


def _at(evidence: Sequence[str]) -> str:
    return _one(evidence[0]) if evidence else "the folder's name"


def _one(evidence: str) -> str:
    return evidence if evidence.startswith("commit ") else code(evidence)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def plain(text: str) -> str:
    """Return a text in which nothing is Markdown."""
    return _SPECIAL.sub(r"\\\1", harmless(text))


def quoted(text: str) -> str:
    return f"«{plain(text)}»"


def code(text: str) -> str:
    """Return a text as code, on one line."""
    return f"`{harmless(text, 300).replace('`', chr(39))}`"
