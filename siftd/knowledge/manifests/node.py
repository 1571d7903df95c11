"""JavaScript and TypeScript: package.json, deno.json, and which program runs their scripts."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from siftd.facts.command_kinds import does
from siftd.facts.command_lines import parts_of
from siftd.knowledge.manifests.declared import (
    SAYS_CHARS_MAX,
    Declared,
    at_line,
    first_there,
    folder_of,
    names,
    path_in,
    table,
    text,
)
from siftd.knowledge.model import COMMAND_KINDS, CommandKind, EntryPoint, Package
from siftd.knowledge.tree import Tree

_LOCKS = (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lockb", "bun"), ("bun.lock", "bun"))
_SCRIPTS_MAX = 200
_PARTS = {"lint": "lint", "format": "format", "types": "types", "type": "types", "test": "test"}
"""What a check of a part is: "check:lint"."""
_MENDS = re.compile(r"\b(?:fix|write|watch|report)\b")
"""A name that says of a script that it changes something, or goes on for ever."""
_KINDS: dict[str, CommandKind] = {each: each for each in COMMAND_KINDS}


def read(tree: Tree, path: str, into: Declared) -> None:
    """Read one manifest of a package of scripts."""
    try:
        whole = msgspec.json.decode(tree.read(path) or "")
    except (msgspec.MsgspecError, RecursionError):
        tree.skip(path, "it is no JSON")
        return
    if not isinstance(whole, dict):
        tree.skip(path, "it is no JSON object")
        return
    if path.endswith("package.json"):
        _package(tree, path, whole, into)
    else:
        for name in list(table(whole, "tasks"))[:_SCRIPTS_MAX]:
            _script(into, f"deno task {name}", folder_of(path), at_line(tree, path, "tasks", name), 10)


def _package(tree: Tree, path: str, whole: dict[str, Any], into: Declared) -> None:
    folder = folder_of(path)
    name = text(whole.get("name"))
    if name:
        into.packages.append(
            Package(
                name=name,
                path=folder,
                ecosystem="npm",
                version=text(whole.get("version"), 40),
                uses=names(whole.get("dependencies")),
                evidence=(at_line(tree, path, "name"),),
            )
        )
        says = text(whole.get("description"), SAYS_CHARS_MAX)
        into.says.append((name, says, at_line(tree, path, "description")))
    into.version(
        "JavaScript",
        f"node {node}" if (node := text(table(whole, "engines").get("node"), 34)) else "",
        at_line(tree, path, "engines", "node"),
    )
    _ways_in(tree, path, whole, name, into)
    runner = _runner(tree, folder, whole)
    scripts = list(table(whole, "scripts"))[:_SCRIPTS_MAX]
    for script in sorted(scripts, key=lambda each: (each.count(":") + each.count("-"), scripts.index(each))):
        short = runner == "npm" and script in ("test", "start")
        command = (
            f"npm {script}" if short else f"{runner} run {script}" if runner in ("npm", "bun") else f"{runner} {script}"
        )
        _script(into, command, folder, at_line(tree, path, "scripts", script), 10)


def _script(into: Declared, command: str, folder: str, evidence: str, rank: int) -> None:
    parts = parts_of(command)
    found = does(parts[0]) if len(parts) == 1 else None
    if found is None:
        return
    kind = _KINDS.get(_PARTS.get(found.variant, "") if found.kind == "check" else found.kind) or _KINDS.get(found.kind)
    if kind is not None:
        mends = bool(_MENDS.search(command))
        into.offer(kind, command, evidence, rank + 3 * bool(found.variant) + 6 * mends, where=folder)


def _runner(tree: Tree, folder: str, whole: dict[str, Any]) -> str:
    """Return what runs the scripts here: what the manifest says, else what has locked the packages."""
    said = text(whole.get("packageManager")).partition("@")[0]
    if said in ("npm", "pnpm", "yarn", "bun"):
        return said
    for place in dict.fromkeys((folder, "")):
        for lock, runner in _LOCKS:
            if tree.has(path_in(place, lock)):
                return runner
    return "npm"


def _ways_in(tree: Tree, path: str, whole: dict[str, Any], name: str, into: Declared) -> None:
    folder = folder_of(path)
    bins = whole.get("bin")
    if isinstance(bins, str):
        bins = {name.rpartition("/")[2]: bins}
    for command, target in table(bins).items():
        if target := text(target):
            at = at_line(tree, path, "bin", command) if isinstance(whole["bin"], dict) else at_line(tree, path, "bin")
            into.enter(_entry(tree, folder, text(command), "command", target, at))
    exported = whole.get("exports")
    inner = exported.get(".", exported) if isinstance(exported, dict) else exported
    leads = _leaf(inner)
    main = text(whole.get("main")) or text(whole.get("module")) or leads
    key = next((each for each in ("main", "module", "exports") if whole.get(each)), "name")
    if not main:
        main = first_there(
            tree, [path_in(folder, "index.js"), path_in(folder, "src/index.ts"), path_in(folder, "src/index.js")]
        )
        main = main[len(folder) + 1 :] if folder and main else main
    if main:
        into.mains[folder] = main
        if name and not whole.get("private"):
            into.enter(_entry(tree, folder, name, "library", main, at_line(tree, path, key)))


def _leaf(value: object) -> str:
    """Return the file to which the conditions of an export lead."""
    for _ in range(4):
        if isinstance(value, dict):
            value = next((value[each] for each in ("import", "node", "default", "require") if each in value), None)
    return text(value)


def _entry(tree: Tree, folder: str, name: str, kind: str, target: str, evidence: str) -> EntryPoint:
    plain = path_in(folder, target.removeprefix("./"))
    found = first_there(tree, [plain, f"{plain}.js", f"{plain}/index.js"])
    return EntryPoint(name=name, kind=kind, target=target.removeprefix("./"), path=found, evidence=(evidence,))  # type: ignore[arg-type]
