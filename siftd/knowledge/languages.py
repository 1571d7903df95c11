"""Which files are code, in what, and which are a project's own: told by names alone."""

from __future__ import annotations

from pathlib import PurePosixPath

from siftd.knowledge.model import ModuleKind

_LANGUAGES = {
    "Python": "py pyi pyx",
    "JavaScript": "js cjs mjs jsx",
    "TypeScript": "ts cts mts tsx",
    "Go": "go",
    "Rust": "rs",
    "Java": "java",
    "Kotlin": "kt kts",
    "Scala": "scala",
    "C": "c h",
    "C++": "cc cpp cxx hpp hh hxx",
    "C#": "cs",
    "Ruby": "rb",
    "PHP": "php",
    "Swift": "swift",
    "Elixir": "ex exs",
    "Shell": "sh bash",
    "SQL": "sql",
    "Vue": "vue",
    "Svelte": "svelte",
}
_BY_SUFFIX = {f".{suffix}": name for name, suffixes in _LANGUAGES.items() for suffix in suffixes.split()}
_OTHERS_FOLDERS = frozenset(
    "node_modules vendor third_party bower_components site-packages .git .hg .svn .venv venv .tox .nox .mypy_cache"
    " .ruff_cache .pytest_cache __pycache__ .eggs .gradle .idea .next .nuxt .terraform Pods DerivedData"
    " .siftd .forge".split()
)
"""Folders of what others made, or a program. What lies in them says nothing of this project."""
_MADE_SUFFIXES = (".min.js", ".min.css", ".map", ".pyc", ".lock", "-lock.json", "-lock.yaml", ".egg-info/PKG-INFO")
MANIFESTS = frozenset(
    "pyproject.toml setup.cfg setup.py tox.ini noxfile.py pytest.ini package.json deno.json deno.jsonc Cargo.toml"
    " go.mod Makefile makefile GNUmakefile justfile Justfile .justfile Taskfile.yml composer.json Gemfile pom.xml"
    " build.gradle build.gradle.kts CMakeLists.txt meson.build mix.exs Package.swift Rakefile pnpm-workspace.yaml"
    " nx.json turbo.json lerna.json .pre-commit-config.yaml .golangci.yml .golangci.yaml Dockerfile docker-compose.yml"
    " compose.yaml Procfile .python-version .nvmrc .node-version .tool-versions rust-toolchain rust-toolchain.toml"
    " ruff.toml .ruff.toml .flake8 mypy.ini biome.json".split()
)
_TESTS = frozenset("test tests spec specs __tests__ testing e2e testdata fixtures test-data integration-tests".split())
_DOCS = frozenset("doc docs documentation website site".split())
_EXAMPLES = frozenset("example examples demo demos samples sample benchmark benchmarks bench benches".split())
_SCRIPTS = frozenset("scripts script tools tool bin ci .github hack build contrib dev packaging".split())
_TEST_NAMES = (".test.", ".spec.", "_test.", "_spec.")


def language_of(path: str) -> str:
    """Return the language of a file of code; "" for anything else."""
    return _BY_SUFFIX.get(PurePosixPath(path).suffix.lower(), "")


def is_someone_elses(path: str) -> bool:
    """Whether a file lies in a folder of what others made, or is made by a program."""
    return path.endswith(_MADE_SUFFIXES) or any(each in _OTHERS_FOLDERS for each in path.split("/")[:-1])


def is_test(path: str) -> bool:
    """Whether a file is a test, by its name or its folders."""
    *folders, name = path.lower().split("/")
    return (
        any(each in _TESTS for each in folders)
        or any(each in name for each in _TEST_NAMES)
        or name.startswith(("test_", "test-"))
        or name in ("conftest.py", "tests.py", "test.js", "test.ts")
    )


def kind_of(folder: str) -> ModuleKind:
    """Return what the code of a folder is for, by its name and those above it."""
    names = folder.lower().split("/")
    for kind, known in (("tests", _TESTS), ("docs", _DOCS), ("examples", _EXAMPLES)):
        if any(each in known for each in names):
            return kind  # type: ignore[return-value]
    return "scripts" if names[0] in _SCRIPTS else "code"
