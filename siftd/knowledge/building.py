"""Making a snapshot of a work tree, tier by tier: manifests and README, ways in, modules, tests and CI, history.

The same tree, history, store and earlier snapshot give the same snapshot. An earlier one tells which module is which
when a folder was renamed, where no history does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from siftd.knowledge.choosing import commands_of, key_files_of
from siftd.knowledge.history import History
from siftd.knowledge.languages import MANIFESTS, is_test, kind_of, language_of
from siftd.knowledge.manifests import compiled, node, python, tasks
from siftd.knowledge.manifests.declared import SAYS_CHARS_MAX, Declared, folder_of
from siftd.knowledge.model import (
    Convention,
    EntryPoint,
    Language,
    Module,
    Overview,
    Package,
    Seen,
    Snapshot,
    Source,
)
from siftd.knowledge.modules import edges_of, modules_of
from siftd.knowledge.relations import Resolver
from siftd.knowledge.tree import Tree

MANIFESTS_MAX = 200
MANIFEST_CHARS_MAX = 512 * 1024
PACKAGES_MAX = 100
CONVENTIONS_MAX = 20
_SAME_MIN = 0.5
"""So much of a module's files has to be the same for it to be the one that was elsewhere."""
_README = re.compile(r"readme(?:\.(?:md|rst|txt|markdown))?", re.IGNORECASE)
_PROSE = re.compile(r"[A-Z*_`\"'][^|<>\[\]{}]{30,2000}")
_PYTHON = frozenset(
    "pyproject.toml setup.cfg setup.py tox.ini noxfile.py pytest.ini mypy.ini .flake8 .python-version".split()
)
_NODE = frozenset(("package.json", "deno.json", "deno.jsonc"))
_COMPILED = frozenset(
    "Cargo.toml go.mod pom.xml build.gradle build.gradle.kts mix.exs Package.swift CMakeLists.txt meson.build"
    " .golangci.yml .golangci.yaml".split()
)
_READERS = ((_PYTHON, python.read), (_NODE, node.read), (_COMPILED, compiled.read))
_LANGUAGES_SHOWN = 8
_LANGUAGE_OF_VERSION = {"TypeScript": "JavaScript"}


def build(root: str, seen: Seen, before: Snapshot | None = None) -> Snapshot:
    """Return the snapshot of a folder, with what the store has `seen` and the snapshot that there was `before`."""
    tree = Tree(root)
    history = History(tree.root)
    declared, read = _declared(tree)
    resolver = Resolver(
        tree.paths, {each.name: (each.path, declared.mains.get(each.path, "")) for each in declared.packages}
    )
    edges = edges_of(tree, resolver)
    modules = modules_of(tree, edges)
    entries = [
        each
        for each in (*declared.entries, *_programs(tree, declared))
        if not _is_aside(each.evidence[0].rpartition(":")[0])
    ]
    return Snapshot(
        overview=_overview(tree, declared),
        commit=history.commit,
        languages=tuple(_languages(tree, declared)),
        packages=tuple(_related(declared.packages)[:PACKAGES_MAX]),
        entry_points=tuple(sorted(entries, key=lambda each: (each.path.count("/") > 4, each.name, each.target))),
        commands=tuple(commands_of(declared.offered, seen)),
        conventions=tuple(_conventions(tree, declared)),
        modules=tuple(_known_again(modules, history, before)),
        key_files=tuple(key_files_of(tree, edges, history, seen)),
        sources=tuple(Source(path=path, hash=tree.hash(path)) for path in read if tree.hash(path)),
        skipped=tuple(sorted(tree.skipped, key=lambda each: each.path)),
        left_out=tree.left_out,
    )


def _declared(tree: Tree) -> tuple[Declared, list[str]]:
    """Return what manifests, CI and documents declare, and which of them were read: the root's first."""
    into = Declared()
    wanted = [
        each for each in tree.paths if each.rpartition("/")[2] in MANIFESTS or tasks.is_ci(each) or tasks.is_guide(each)
    ]
    wanted.sort(key=lambda each: (each.count("/"), is_test(each), each))
    wanted = [each for each in wanted if not _is_aside(each)][:MANIFESTS_MAX]
    for path in wanted:
        text = tree.read(path)
        if text is None:
            continue
        if len(text) > MANIFEST_CHARS_MAX:
            tree.skip(path, "it is too long for a manifest")
            continue
        name = path.rpartition("/")[2]
        for known, read in _READERS:
            if name in known:
                read(tree, path, into)
        tasks.read(tree, path, into)
    tasks.leave_out_undeclared(into)
    tasks.read_scripts(tree, into)
    return into, wanted


def _is_aside(path: str) -> bool:
    """Whether a manifest is of an example, a test or the documents: nobody works here as it says."""
    folder = folder_of(path)
    return is_test(path) or (kind_of(folder) in ("docs", "examples", "tests") and not tasks.is_guide(path))


def _overview(tree: Tree, declared: Declared) -> Overview:
    """Return what the first manifest says the project is; else the README's first sentence, else the folder's name."""
    said = [each for each in declared.says if each[1]] or declared.says
    root = [each for each in said if folder_of(each[2].rpartition(":")[0]) == ""]
    name, says, at = (root or [("", "", "")])[0]
    readme = _readme(tree) if not says else None
    if readme is not None:
        says, at_readme = readme
        return Overview(name=name or _folder_name(tree), says=says, evidence=(*((at,) if name else ()), at_readme))
    return Overview(name=name or _folder_name(tree), says=says, evidence=(at,) if at else ())


def _folder_name(tree: Tree) -> str:
    return tree.root.rpartition("/")[2]


def _readme(tree: Tree) -> tuple[str, str] | None:
    """Return the first line of prose of the root's README, and where it is."""
    path = next((each for each in tree.paths if _README.fullmatch(each)), "")
    for number, line in enumerate(tree.lines(path)[:80] if path else (), start=1):
        text = " ".join(line.split())
        if _PROSE.match(text) and not text.startswith(("```", "***")):
            return text[:SAYS_CHARS_MAX], f"{path}:{number}"
    return None


def _languages(tree: Tree, declared: Declared) -> list[Language]:
    counted = Counter(language_of(path) for path in tree.code)
    first: dict[str, str] = {}
    for path in tree.code:
        first.setdefault(language_of(path), path)
    made = []
    for name, files in sorted(counted.items(), key=lambda each: (-each[1], each[0]))[:_LANGUAGES_SHOWN]:
        version, at = declared.versions.get(_LANGUAGE_OF_VERSION.get(name, name), ("", ""))
        made.append(Language(name=name, files=files, version=version, evidence=(at or f"{first[name]}:1",)))
    return made


def _related(packages: Sequence[Package]) -> list[Package]:
    """Return packages with those of this project that they need told apart from others'."""
    own = {(each.ecosystem, each.name.lower().replace("_", "-")): each.name for each in packages}
    made = []
    for each in packages:
        known = [(name, own.get((each.ecosystem, name.lower().replace("_", "-")))) for name in each.uses]
        made.append(
            Package(
                name=each.name,
                path=each.path,
                ecosystem=each.ecosystem,
                version=each.version,
                depends_on=tuple(ours for _, ours in known if ours and ours != each.name),
                uses=tuple(name for name, ours in known if not ours),
                evidence=each.evidence,
            )
        )
    return made


def _programs(tree: Tree, declared: Declared) -> list[EntryPoint]:
    """Return the ways in that no manifest declares: packages of Python that are run, and imported."""
    made = []
    named = {each.name.lower().replace("-", "_"): each.path for each in declared.packages if each.ecosystem == "python"}
    for path in tree.code:
        parts = path.split("/")
        if is_test(path) or kind_of(path.rpartition("/")[0]) in ("docs", "examples", "tests"):
            continue
        if parts[-1] == "__main__.py" and len(parts) > 1:
            module = ".".join(parts[1:-1] if parts[0] in ("src", "lib") else parts[:-1])
            made.append(
                EntryPoint(name=f"python -m {module}", kind="program", target=path, path=path, evidence=(f"{path}:1",))
            )
        elif parts[-1] == "__init__.py" and 2 <= len(parts) <= 4 and parts[-2].lower() in named:
            above = "/".join(parts[:-2])
            if above.removesuffix("src").removesuffix("lib").strip("/") == named[parts[-2].lower()]:
                made.append(EntryPoint(name=parts[-2], kind="library", target=path, path=path, evidence=(f"{path}:1",)))
        elif path in ("manage.py", "app.py", "main.py", "server.js", "app.js", "server.ts", "app.ts"):
            made.append(EntryPoint(name=path, kind="program", target=path, path=path, evidence=(f"{path}:1",)))
    return made[:30]


def _conventions(tree: Tree, declared: Declared) -> list[Convention]:
    said = list(declared.conventions)
    tests = Counter(_test_home(path) for path in tree.code if is_test(path))
    for folder, many in sorted(tests.items(), key=lambda each: (-each[1], each[0]))[:2]:
        first = next(each for each in tree.code if is_test(each) and _test_home(each) == folder)
        place = f"in {folder}" if folder else "beside what they test"
        said.append((f"{many} files of tests lie {place}", f"{first}:1"))
    return [Convention(text=text, evidence=(at,)) for text, at in said[:CONVENTIONS_MAX]]


def _test_home(path: str) -> str:
    """Return the topmost folder of tests that a test is in; "" for one beside what it tests."""
    parts = path.split("/")[:-1]
    for many in range(1, len(parts) + 1):
        if is_test(f"{'/'.join(parts[:many])}/x"):
            return "/".join(parts[:many])
    return ""


def _known_again(modules: Sequence[Module], history: History, before: Snapshot | None) -> list[Module]:
    """Return modules with where they lay before: as the history tells, else by what is the same in them."""
    here = {each.path for each in modules}
    renamed = history.renamed_folders(here)
    old = {each.path: each for each in before.modules} if before is not None else {}
    gone = [each for path, each in old.items() if path not in here]
    made = []
    for each in modules:
        was, shown = "", each.evidence
        if each.path in renamed:
            was, commit = renamed[each.path]
            shown = (*shown, f"commit {commit}")
        elif each.path in old:
            was = old[each.path].was
        else:
            was = _same_elsewhere(each, gone)
        made.append(_renamed(each, was, shown) if was else each)
    return made


def _same_elsewhere(module: Module, gone: Sequence[Module]) -> str:
    prints = set(module.prints)
    shares = [(len(prints & set(each.prints)) / max(len(each.prints), 1), each.path) for each in gone]
    share, path = max(shares, key=lambda each: (each[0], each[1]), default=(0.0, ""))
    return path if share >= _SAME_MIN else ""


def _renamed(module: Module, was: str, evidence: tuple[str, ...]) -> Module:
    return msgspec.structs.replace(module, was=was, evidence=evidence)
