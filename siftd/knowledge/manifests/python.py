"""Python: pyproject.toml, setup.cfg, setup.py, and the runners tox and nox."""

from __future__ import annotations

import configparser
import re
from collections.abc import Iterable
from typing import Any

from siftd import foreign_toml
from siftd.knowledge.manifests.declared import (
    SAYS_CHARS_MAX,
    Declared,
    at_line,
    first_there,
    folder_of,
    is_one_of,
    names,
    path_in,
    table,
    text,
)
from siftd.knowledge.model import CommandKind, EntryPoint, Package
from siftd.knowledge.tree import Tree

PYTHON = "Python"
_REQUIREMENT = re.compile(r"\s{0,20}([A-Za-z0-9][\w.-]{0,100})")
_ENV = re.compile(r"(?:[\w.-]|\{[\w., -]{0,200}\}){1,60}")
_ENV_NAME = re.compile(r"[\w.-]{1,60}")
_STRING = re.compile(r"""["']([^"']{3,200})["']""")
ENVS_MAX = 100
_TARGET = re.compile(r"([\w.-]{1,80})\s{0,20}=\s{0,20}([\w.]{1,120}:[\w.]{1,80})")
_NOX = re.compile(r"\s{0,20}def\s{1,4}(\w{1,60})\s{0,4}\(\s{0,4}session\b")
_NOX_NAME = re.compile(r"""\s{0,20}@(?:nox\.)?session\b.{0,200}?\bname\s{0,4}=\s{0,4}["']([\w.-]{1,60})["']""")
_SETUP_NAME = re.compile(r"""\s{0,20}name\s{0,4}=\s{0,4}["']([\w.-]{1,100})["']""")
_ENVS: tuple[tuple[CommandKind, tuple[str, ...]], ...] = (
    ("lint", ("lint", "linters", "style", "flake8", "ruff", "precommit", "pylint", "codestyle", "qa")),
    ("types", ("typing", "mypy", "types", "typecheck", "pyright", "type")),
    ("format", ("format", "fmt", "black")),
    ("test", ("test", "tests", "unit", "pytest")),
)
"""What an environment or a session does, by the words of its name."""
_TOOLS: tuple[tuple[str, CommandKind, str], ...] = (
    ("ruff", "lint", "ruff check"),
    ("pylint", "lint", "pylint"),
    ("flake8", "lint", "flake8"),
    ("mypy", "types", "mypy"),
    ("pyright", "types", "pyright"),
    ("black", "format", "black ."),
)
"""What is run where a tool is set up, and nothing declares how."""
_DEPENDENCIES = "install_requires"


def read(tree: Tree, path: str, into: Declared) -> None:
    """Read one manifest or settings file of Python."""
    name = path.rpartition("/")[2]
    if name == "pyproject.toml":
        _pyproject(tree, path, into)
    elif name in ("setup.cfg", "tox.ini", "pytest.ini", "mypy.ini", ".flake8"):
        _ini(tree, path, into)
    elif name == "setup.py":
        _setup(tree, path, into)
    elif name == "noxfile.py":
        _nox(tree, path, into)
    elif name == ".python-version":
        into.version(PYTHON, (tree.lines(path) or [""])[0], f"{path}:1")


def _pyproject(tree: Tree, path: str, into: Declared) -> None:
    try:
        whole = foreign_toml.loads(tree.read(path) or "")
    except ValueError:
        tree.skip(path, "it is no TOML that can be read")
        return
    project, tools = table(whole, "project"), table(whole, "tool")
    poetry = table(tools, "poetry")
    declared = project or poetry
    folder = folder_of(path)
    here = "project" if project else "poetry"
    head = "[project]" if project else "[tool.poetry]"
    if name := text(declared.get("name")):
        needs = names(project.get("dependencies")) if project else names(poetry.get("dependencies"))
        _package(into, name, folder, text(declared.get("version"), 40), needs, at_line(tree, path, head, "name"))
        into.says.append(
            (name, text(declared.get("description"), SAYS_CHARS_MAX), at_line(tree, path, head, "description"))
        )
    wanted = project.get("requires-python") or table(poetry, "dependencies").get("python")
    into.version(PYTHON, wanted, at_line(tree, path, head, "requires-python" if project else "python"))
    for group in ("scripts", "gui-scripts"):
        _commands(
            tree, path, into, table(declared, group), f"[{'project' if here == 'project' else 'tool.poetry'}.{group}]"
        )
    for group, entries in table(project, "entry-points").items():
        for name, target in table(entries).items():
            if target := text(target):
                at = at_line(tree, path, f'[project.entry-points."{group}"]', name)
                into.enter(_entry(tree, name, "plugin", target, at))
    if "build-system" in whole or poetry:
        tool = (
            "poetry build"
            if poetry and not project
            else "uv build"
            if "uv_build" in str(table(whole, "build-system").get("build-backend"))
            else "python -m build"
        )
        into.offer("build", tool, at_line(tree, path, "[build-system]"), 60, where=folder, basis="usual")
    _tools(tree, path, tools, into)


def _tools(tree: Tree, path: str, tools: dict[str, Any], into: Declared) -> None:
    folder = folder_of(path)
    if "pytest" in tools:
        into.offer("test", "pytest", at_line(tree, path, "[tool.pytest"), 60, where=folder, basis="usual")
    for name, kind, command in _TOOLS:
        if name in tools:
            into.offer(kind, command, at_line(tree, path, f"[tool.{name}"), 60, where=folder, basis="usual")
            into.convene(f"{name} is set up", at_line(tree, path, f"[tool.{name}"))
    runner = table(tools, "tox")
    if legacy := text(runner.get("legacy_tox_ini"), 100_000):
        into.offer("test", "tox", at_line(tree, path, "legacy_tox_ini"), 30, where=folder)
        del legacy
    elif runner:
        into.offer("test", "tox", at_line(tree, path, "[tool.tox"), 30, where=folder)
        for env in table(runner, "env"):
            _tox_env(into, env, folder, at_line(tree, path, f"[tool.tox.env.{env}]"))
    for tool, run in (("pdm", "pdm run"), ("poe", "poe"), ("rye", "rye run")):
        scripts = table(tools, tool, "tasks" if tool == "poe" else "scripts")
        for name in scripts:
            _named(into, name, f"{run} {name}", folder, at_line(tree, path, f"[tool.{tool}", name), 20)
    for env, settings in table(tools, "hatch", "envs").items():
        for name in table(settings, "scripts"):
            run = f"hatch run {name}" if env == "default" else f"hatch run {env}:{name}"
            where = at_line(tree, path, f"[tool.hatch.envs.{env}.scripts]", name)
            _named(into, name, run, folder, where, 20 if env == "default" else 25)


def _named(into: Declared, name: str, command: str, folder: str, evidence: str, rank: int) -> None:
    for kind, words in _ENVS:
        if is_one_of(name, words):
            into.offer(kind, command, evidence, rank, where=folder)
            return
    if name in ("build", "run", "serve", "dev", "start"):
        into.offer("build" if name == "build" else "run", command, evidence, rank, where=folder)


def _tox_env(into: Declared, env: str, folder: str, evidence: str) -> None:
    if (
        env[:1].isdigit() or env.startswith("-") or (env[:2] == "py" and env[2:3].isdigit())
    ):  # one of many, for a version
        return
    for kind, words in _ENVS[:3]:
        if is_one_of(env, words):
            into.offer(kind, f"tox -e {env}", evidence, 30, where=folder)
            return


def _ini(tree: Tree, path: str, into: Declared) -> None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(tree.read(path) or "")
    except (configparser.Error, ValueError, RecursionError):
        tree.skip(path, "it is no INI file")
        return
    folder, name = folder_of(path), path.rpartition("/")[2]
    if package := text(parser.get("metadata", "name", fallback="")):
        version = text(parser.get("metadata", "version", fallback=""), 40)
        needs = parser.get("options", _DEPENDENCIES, fallback="").splitlines()
        shown = "" if version.startswith(("attr:", "file:")) else version
        _package(into, package, folder, shown, needs, at_line(tree, path, "[metadata]", "name"))
        says = text(parser.get("metadata", "description", fallback=""), SAYS_CHARS_MAX)
        into.says.append((package, says, at_line(tree, path, "[metadata]", "description")))
        into.offer("build", "python -m build", at_line(tree, path, "[metadata]"), 60, where=folder, basis="usual")
    into.version(
        PYTHON,
        parser.get("options", "python_requires", fallback=""),
        at_line(tree, path, "[options]", "python_requires"),
    )
    for group in ("console_scripts", "gui_scripts"):
        lines = parser.get("options.entry_points", group, fallback="").splitlines()
        found = {match[1]: match[2] for line in lines if (match := _TARGET.match(line.strip()))}
        _commands(tree, path, into, found, "[options.entry_points]")
    if name == "tox.ini" or parser.has_section("tox"):
        _tox(tree, path, parser, into)
    for section in ("tool:pytest", "pytest"):
        if parser.has_section(section):
            into.offer("test", "pytest", at_line(tree, path, f"[{section}]"), 60, where=folder, basis="usual")
    for tool, kind, command in _TOOLS:
        if parser.has_section(tool):
            into.offer(kind, command, at_line(tree, path, f"[{tool}]"), 60, where=folder, basis="usual")
            into.convene(f"{tool} is set up", at_line(tree, path, f"[{tool}]"))


def _tox(tree: Tree, path: str, parser: configparser.ConfigParser, into: Declared) -> None:
    folder = folder_of(path)
    if not (parser.has_section("tox") or parser.has_section("testenv")):
        return
    into.offer("test", "tox", at_line(tree, path, "[tox]"), 30, where=folder)
    listed = f"{parser.get('tox', 'envlist', fallback='')}\n{parser.get('tox', 'env_list', fallback='')}"
    sections = (each.partition(":")[2] for each in parser.sections()[:ENVS_MAX] if each.startswith("testenv:"))
    for env in (*sections, *_expanded(listed)):
        if _ENV_NAME.fullmatch(env):
            section = at_line(tree, path, f"[testenv:{env}]")
            listed_at = at_line(tree, path, "envlist" if parser.has_option("tox", "envlist") else "env_list")
            _tox_env(into, env, folder, section if parser.has_section(f"testenv:{env}") else listed_at)


def _expanded(listed: str) -> list[str]:
    """Return the environments of a list, of which "typing-{mypy,ty}" is two."""
    found: list[str] = []
    for each in _ENV.findall(listed)[:ENVS_MAX]:
        made = [""]
        for part in each.replace("}", "{").split("{"):
            made = [before + choice.strip() for before in made for choice in part.split(",")][:ENVS_MAX]
        found += made
    return found[:ENVS_MAX]


def _setup(tree: Tree, path: str, into: Declared) -> None:
    """Read what a setup.py says in plain words; what it works out is not worked out here."""
    folder = folder_of(path)
    for number, line in enumerate(tree.lines(path), start=1):
        if (found := _SETUP_NAME.match(line)) and all(each.path != folder for each in into.packages):
            _package(into, found[1], folder, "", (), f"{path}:{number}")
        for part in _STRING.findall(line):
            if target := _TARGET.fullmatch(part.strip()):
                into.enter(_entry(tree, target[1], "command", target[2], f"{path}:{number}"))
    into.offer("build", "python -m build", f"{path}:1", 65, where=folder, basis="usual")


def _nox(tree: Tree, path: str, into: Declared) -> None:
    name = ""
    for number, line in enumerate(tree.lines(path), start=1):
        if found := _NOX_NAME.match(line):
            name = found[1]
        elif found := _NOX.match(line):
            session, name = name or found[1], ""
            _named(into, session, f"nox -s {session}", folder_of(path), f"{path}:{number}", 28)


def _package(into: Declared, name: str, folder: str, version: str, needs: Iterable[str], evidence: str) -> None:
    found = (match[1] for each in needs if (match := _REQUIREMENT.match(each)))
    uses = tuple(dict.fromkeys(each.lower().replace("_", "-") for each in found if each.lower() != "python"))
    if all((each.path, each.ecosystem) != (folder, "python") for each in into.packages):
        into.packages.append(
            Package(name=name, path=folder, ecosystem="python", version=version, uses=uses, evidence=(evidence,))
        )


def _commands(tree: Tree, path: str, into: Declared, found: dict[str, Any], section: str) -> None:
    for name, target in found.items():
        wanted = target.get("callable") if isinstance(target, dict) else target
        if name := text(name):
            into.enter(
                _entry(
                    tree, name, "command", text(wanted).partition("[")[0].strip(), at_line(tree, path, section, name)
                )
            )


def _entry(tree: Tree, name: str, kind: str, target: str, evidence: str) -> EntryPoint:
    module = target.partition(":")[0].strip().replace(".", "/")
    places = [path_in(root, f"{module}{end}") for root in ("", "src", "lib") for end in (".py", "/__init__.py")]
    return EntryPoint(name=name, kind=kind, target=target, path=first_there(tree, places), evidence=(evidence,))  # type: ignore[arg-type]
