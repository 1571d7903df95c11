"""Imports point down, nowhere in a circle: no room knows the rooms above it (`[tool.importlinter]`, pyproject.toml)."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from siftd.clients.claude_code.tools import ALIKE

REPOSITORY = Path(__file__).resolve().parents[2]


def test_the_contracts_between_rooms_are_kept() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_hooks_import_nothing_of_the_package() -> None:
    for script in (REPOSITORY / "hooks").glob("*.py"):
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            named += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(each.split(".")[0] == "siftd" for each in named), script.name


CLIENTS = REPOSITORY / "siftd" / "clients"
TOOLS = set(" ".join(names for _, names in ALIKE).split()) - {"Read", "Skill", "Task", "Agent", "Write", "LSP", "LS"}
"""Claude Code's names of tools, but for those that are words of ours too."""
HOOKS = {
    "SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop",
    "SubagentStop", "PreCompact", "AssistantText", "CompactSummary",
}  # fmt: skip
MAY = {
    "siftd/cli/answer.py": {"UserPromptSubmit"},  # speaks as a hook of the client: typed behind `/mem`
}


def test_nothing_but_a_clients_own_room_knows_the_names_of_its_tools_and_hooks() -> None:
    found: dict[str, set[str]] = {}
    for module in _modules_with(re.compile(rf"\b(?:{'|'.join(HOOKS | TOOLS)})\b")):
        if module.is_relative_to(CLIENTS):
            continue
        for text in _texts(module):
            words = set(re.findall(r"\w+", text))
            named = words & (HOOKS | TOOLS)
            if named and (text in named or "'" in text):  # a name, or SQL that compares with one
                found.setdefault(str(module.relative_to(REPOSITORY)), set()).update(named)
    assert {path: names - MAY.get(path, set()) for path, names in found.items() if names - MAY.get(path, set())} == {}


def _modules_with(word: re.Pattern[str]) -> list[Path]:
    """Return the package's modules that hold such a word at all: to parse all of them takes seconds."""
    return sorted(module for module in (REPOSITORY / "siftd").rglob("*.py") if word.search(_read(module)))


@functools.cache
def _read(module: Path) -> str:
    return module.read_text(encoding="utf-8")


@functools.cache
def _parsed(module: Path) -> ast.Module:
    return ast.parse(_read(module))


def _texts(module: Path) -> Iterator[str]:
    """Yield the texts of a module that are no documentation."""
    tree = _parsed(module)
    documented = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in documented and isinstance(node.value, str | bytes):
            yield node.value if isinstance(node.value, str) else node.value.decode("latin-1")


SQL = re.compile(r"\s*(?:SELECT|INSERT|UPDATE \w+ SET|DELETE FROM|PRAGMA|BEGIN|COMMIT|ROLLBACK|VACUUM|CREATE TABLE)\b")
"""How a statement begins."""


def test_sql_stands_in_the_store_alone() -> None:
    rules = REPOSITORY / "siftd" / "redact" / "rules"  # forms of secrets, some of which are SQL
    foreign = {  # they read databases of others, whose rows no table of ours has
        "siftd/foreign_database.py",
        "siftd/clients/opencode/sessions.py",
        "siftd/clients/antigravity/steps.py",
        "siftd/other_memories/claude_mem.py",
        "siftd/other_memories/mem0.py",
        "siftd/other_memories/rekal.py",
    }
    found = {
        str(module.relative_to(REPOSITORY))
        for module in _modules_with(SQL)
        if not module.is_relative_to(REPOSITORY / "siftd" / "store") and not module.is_relative_to(rules)
        if not module.is_relative_to(
            REPOSITORY / "siftd" / "team_server"
        )  # PostgreSQL's: calls of schema/team/functions
        if any(SQL.match(text) for text in _texts(module))
    }
    assert found == foreign


def test_nobody_outside_of_the_store_knows_what_the_database_is() -> None:
    """They hold a `siftd.store.access.Database`, and hand it to the store's functions."""
    reads_databases_of_others = {"siftd/foreign_database.py", "siftd/clients/opencode/sessions.py"}
    found = {
        str(module.relative_to(REPOSITORY))
        for module in _modules_with(re.compile("sqlite3"))
        if not module.is_relative_to(REPOSITORY / "siftd" / "store")
        if "sqlite3" in _imported(module)
    }
    assert found == reads_databases_of_others


def test_the_teams_server_alone_knows_postgresql() -> None:
    assert {
        str(module.relative_to(REPOSITORY))
        for module in _modules_with(re.compile("psycopg"))
        if not module.is_relative_to(REPOSITORY / "siftd" / "team_server")
        if any(name.split(".")[0].startswith("psycopg") for name in _imported(module))
    } == set()


def _imported(module: Path) -> set[str]:
    """Return the modules that a module imports by their names, inside of functions too."""
    nodes = list(ast.walk(_parsed(module)))
    return {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names} | {
        str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)
    }


OURS_ALONE = set(
    "stock shop workshop desk shelf shelves purse acquit condemned door wish unapplied retell retold untold "
    "tell tells telling told kept anew lane lanes beside lifts legs manieth descending doubted surely".split()
)
"""Words that were this project's private ones: the field's terms stand in their places (`docs/glossary.md`)."""

STAYS = {
    "siftd/wire/requests/living.py": {"databaseMadeAnewTs"},  # a key of what `mem info --json` prints
    "siftd/wire/requests/capturing.py": {"told", "tell"},  # keys of a frame's header: installed hooks write them
    "tests/support/kept_forms.py": {"kept_forms", "kept_store"},  # forms that released versions wrote
    "siftd/summarise/fact_answers.py": {"is_wish_of_another"},  # a wish is what a person says there
    "tests/support/workbench.py": {"tell"},  # short: 140 tests begin with it
    "tests/support/whose_folders.py": {  # names of the cases: one folder does lie beside the other
        "archive_beside_a_bare_repository",
        "hidden_bare_repository_beside_its_worktrees",
    },
}


def test_what_is_defined_is_named_in_the_fields_terms() -> None:
    found: set[str] = set()
    for folder in ("siftd", "hooks", "tests/support"):
        for module in (REPOSITORY / folder).rglob("*.py"):
            path = str(module.relative_to(REPOSITORY))
            wrong = {name for name in (*_defined(module), module.stem) if _words_of(name) & OURS_ALONE}
            found |= {f"{path}: {name}" for name in wrong - STAYS.get(path, set())}
    assert found == set()


PRIVATE = {
    "tests/component/test_own_faults.py": {"_background": "the count of a refusal is written after its answer"},
    "tests/component/test_tick.py": {"_SLICE_MAX": "128 summaries a slice, of which no test makes so many"},
    "tests/component/test_told_both_ways.py": {"_found": "a process finds a session once, and these move it"},
    "tests/faults/test_deadly_work.py": {"_is_stored": "that a record is looked at twice is what is proved"},
    "tests/property/test_vector_index.py": {
        "_first": "sums that no real vectors have",
        "_rows": "sums that no real vectors have",
    },
    "tests/unit/test_qwen_and_kimi_files.py": {"_found": "a process finds a session once, and these move it"},
    "tests/unit/test_served_embedders.py": {"_client": "an embedder lives as long as its daemon, and is never closed"},
}
"""The private names of ours that tests touch, and why no public one would do."""
PUBLIC = {"_replace", "_asdict", "_fields", "_exit", "_parser", "_constants"}
"""Documented, or Python's own."""


def test_tests_touch_a_private_name_for_a_reason_alone() -> None:
    found: dict[str, set[str]] = {}
    for module in (REPOSITORY / "tests").rglob("*.py"):
        if module.name != "test_patterns.py":  # whose table names every pattern by its place
            names = _touched(module) - _defined_private(module)
            if names:
                found[str(module.relative_to(REPOSITORY))] = names
    assert found == {path: set(reasons) for path, reasons in PRIVATE.items()}
    assert sum(map(len, found.values())) <= 10


def _touched(module: Path) -> set[str]:
    """Return the private names that a module asks of something else, or replaces there."""
    names: set[str] = set()
    for node in ast.walk(_parsed(module)):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass
            case ast.Attribute(attr=name) | ast.alias(name=name):
                names.add(name)
            case ast.Constant(value=str() as text) if re.fullmatch(r"siftd(\.\w+)*\._[A-Za-z]\w*", text):
                names.add(text.rpartition(".")[2])
            case ast.Call(func=ast.Attribute(attr="setattr"), args=[_, ast.Constant(value=str() as text), *_]):
                names.add(text)
    return {name for name in names if re.match(r"_[A-Za-z]", name)} - PUBLIC


def _defined_private(module: Path) -> set[str]:
    """Return what a module defines itself, attributes of its classes too."""
    return {name for name in _defined(module) if name.startswith("_")}


def _defined(module: Path) -> Iterator[str]:
    for node in ast.walk(_parsed(module)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def _words_of(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()))
