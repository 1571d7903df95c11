"""Which command is told of those that were seen or declared, and which files matter most."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from siftd.knowledge.history import History
from siftd.knowledge.languages import is_test, kind_of
from siftd.knowledge.manifests.declared import Offered
from siftd.knowledge.model import COMMAND_KINDS, Command, CommandKind, KeyFile, Seen, SeenCommand
from siftd.knowledge.modules import Edge
from siftd.knowledge.tree import Tree

OTHERS_MAX = 4
FOLDERS_MAX = 20
KEY_FILES_MAX = 15
_KINDS: dict[str, CommandKind] = {each: each for each in COMMAND_KINDS}
_TOUCHES_MIN = 3
_IMPORTERS_MIN = 3


def commands_of(offered: Sequence[Offered], seen: Seen) -> list[Command]:
    """Return for each kind, and each folder that has its own, how it is done: as seen to succeed, else as declared."""
    declared: dict[tuple[str, CommandKind], list[Offered]] = defaultdict(list)
    for each in sorted(offered, key=lambda each: each.rank):
        declared[each.where, each.kind].append(each)
    succeeded: dict[tuple[str, CommandKind], SeenCommand] = {}
    for known in seen.commands:
        if kind := _KINDS.get(known.kind):
            succeeded.setdefault((known.where, kind), known)
    keys = sorted({*declared, *succeeded}, key=lambda key: (key[0] != "", key[0], COMMAND_KINDS.index(key[1])))
    root = {kind for where, kind in keys if not where}
    made = []
    for key in keys:
        where, kind = key
        if where and (kind in root and key not in succeeded and declared[key][0].rank >= 30):
            continue  # the root's does it
        made.append(_command(where, kind, succeeded.get(key), declared.get(key, [])))
    of_root = [each for each in made if not each.where]
    return [*of_root, *(each for each in made if each.where)][: len(of_root) + FOLDERS_MAX]


def _command(where: str, kind: CommandKind, seen: SeenCommand | None, declared: Sequence[Offered]) -> Command:
    names = list(dict.fromkeys(each.command for each in declared))
    if seen is not None:
        others = tuple(each for each in names if each != seen.command)[:OTHERS_MAX]
        also = next((each.evidence for each in declared if each.command == seen.command), None)
        shown = (*seen.evidence, *([also] if also else []))
        return Command(kind=kind, command=seen.command, where=where, basis="seen", others=others, evidence=shown)
    first = declared[0]
    shown = tuple(dict.fromkeys(each.evidence for each in declared if each.command == first.command))[:OTHERS_MAX]
    return Command(
        kind=kind,
        command=first.command,
        where=where,
        basis=first.basis,
        others=tuple(names[1 : OTHERS_MAX + 1]),
        evidence=shown,
    )


def key_files_of(tree: Tree, edges: Sequence[Edge], history: History, seen: Seen) -> list[KeyFile]:
    """Return the files that matter most, and why: changed most, imported most, tests beside them."""
    touches = history.touches()
    importers: Counter[str] = Counter()
    first: dict[str, Edge] = {}
    tests: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        if is_test(edge.path):
            tests[edge.to].append(edge.path)
        else:
            importers[edge.to] += 1
            first.setdefault(edge.to, edge)
    code = [each for each in tree.code if not is_test(each) and kind_of(each.rpartition("/")[0]) in ("code", "scripts")]
    weighed = _weighed(code, touches, importers, seen.edits)
    chosen = sorted(weighed, key=lambda path: (-weighed[path], path))[:KEY_FILES_MAX]
    return [
        _key_file(tree, path, touches, importers, first.get(path), tests.get(path, []), history, seen)
        for path in chosen
    ]


def _weighed(
    code: Sequence[str], touches: Mapping[str, int], importers: Mapping[str, int], edits: Mapping[str, int]
) -> dict[str, float]:
    """Return what each file weighs: its share of the most that any has, of each kind of reason."""
    weighed: dict[str, float] = {}
    for counted, least in ((touches, _TOUCHES_MIN), (importers, _IMPORTERS_MIN), (edits, _TOUCHES_MIN)):
        most = max((counted.get(path, 0) for path in code), default=0)
        for path in code:
            if most and counted.get(path, 0) >= least:
                weighed[path] = weighed.get(path, 0.0) + counted[path] / most
    return weighed


def _key_file(
    tree: Tree,
    path: str,
    touches: Mapping[str, int],
    importers: Mapping[str, int],
    first: Edge | None,
    tests: Sequence[str],
    history: History,
    seen: Seen,
) -> KeyFile:
    why, shown = [], []
    if touches.get(path, 0) >= _TOUCHES_MIN:
        why.append(f"changed in {touches[path]} of the last {history.commits} commits")
        if path in history.last:
            shown.append(f"commit {history.last[path]}")
    if first is not None and importers[path] >= _IMPORTERS_MIN:
        why.append(f"imported by {importers[path]} files")
        shown.append(f"{first.path}:{first.line}")
    if seen.edits.get(path, 0) >= _TOUCHES_MIN:
        why.append(f"changed {seen.edits[path]} times by agents")
    if tests:
        why.append(f"tested by {tests[0]}" + (f" and {len(tests) - 1} more" if len(tests) > 1 else ""))
    return KeyFile(path=path, why=tuple(why), hash=tree.hash(path), evidence=tuple(shown or [f"{path}:1"]))
