"""What a manifest says a package or a service depends on: those of the common ecosystems, by their file's name.

A manifest is read as data, never run. One that cannot be read says so (`Manifest.problem`), and nothing is taken of it.
Whatever it names replaces what an earlier one named: what is no longer listed has ended (`Found.complete`).
"""

from __future__ import annotations

import configparser
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from siftd import foreign_toml
from siftd.graph.compose import read_compose
from siftd.graph.model import Found, Link, Named

CHARS_MAX = 1_048_576
"""A longer manifest is none that people write: lock files are."""
DEPENDENCIES_MAX = 2_000

_NAME = re.compile(r"[A-Za-z0-9@][A-Za-z0-9@._/-]{0,199}")
_REQUIREMENT = re.compile(r"\s{0,20}([A-Za-z0-9][A-Za-z0-9._-]{0,199})")
_QUOTED = re.compile(r"""["'](@?[A-Za-z0-9][\w@./-]{0,199})""")
_WORD = re.compile(r"@?[A-Za-z0-9][\w@./-]{0,199}+")
_GO_MODULE = re.compile(r"module\s{1,8}(\S{1,200})")
_GO_REQUIRE = re.compile(r"(?:require\s{1,8})?([\w-]{1,60}(?:\.[\w-]{1,60}){1,6}(?:/\S{0,200})?)\s{1,8}v\S")
_GEM = re.compile(r"""\s{0,8}gem\s{0,8}\(?\s{0,8}['"]([\w.-]{1,200})['"]""")
_XML_TAG = re.compile(r"<(/?)([\w.:-]{1,80}+)([^<>]{0,400}+)>([^<]{0,400})")
_NOT_PACKAGES = re.compile(r"php\Z|ext-|lib-|composer-|hhvm\Z")


class Package(NamedTuple):
    """What a manifest says."""

    name: str
    """Empty where it does not name itself."""
    dependencies: list[str]
    ecosystem: str


class Manifest(NamedTuple):
    """What became of a manifest."""

    problem: str = ""
    """Why nothing was taken of it; empty: it was read."""


def is_manifest(path: str) -> bool:
    """Whether a file is a manifest, by its name."""
    return _reader_of(path) is not None or _is_compose(path)


def read_manifest(found: Found, path: str, text: str, owner: Named, line: int | None = None) -> Manifest:
    """Note what a manifest says. `owner` is what one without a name of its own is about."""
    if len(text) > CHARS_MAX:
        return Manifest("it is larger than a manifest is")
    try:
        if _is_compose(path):
            read_compose(found, text)
            return Manifest()
        reader = _reader_of(path)
        if reader is None:
            return Manifest("it is no manifest that is known")
        package = reader(text)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, configparser.Error) as error:
        return Manifest(f"it does not parse ({type(error).__name__})")
    src = Named("package", package.name) if package.name else owner
    found.complete.add(src)
    if not found.name(src, line):
        return Manifest("it has no name that can be kept")
    lines = _lines_of(text)
    for each in list(dict.fromkeys(package.dependencies))[:DEPENDENCIES_MAX]:
        if _NAME.fullmatch(each):
            found.link(Link(src, "DEPENDS_ON", Named("package", each), "manifest", lines.get(each)))
    return Manifest()


def _pyproject(text: str) -> Package:
    data = foreign_toml.loads(text)
    project = _table(data.get("project"))
    poetry = _table(_table(data.get("tool")).get("poetry"))
    found = list(_requirements(_list(project.get("dependencies"))))
    for group in (
        *_table(project.get("optional-dependencies")).values(),
        *_table(data.get("dependency-groups")).values(),
    ):
        found += _requirements(_list(group))
    tables = [poetry.get("dependencies"), poetry.get("dev-dependencies")]
    tables += [_table(group).get("dependencies") for group in _table(poetry.get("group")).values()]
    found += [name for each in tables for name in _table(each) if name.lower() != "python"]
    name = project.get("name") or poetry.get("name")
    return Package(_text(name), [each for each in found if each != name], "python")


def _setup_cfg(text: str) -> Package:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    name = parser.get("metadata", "name", fallback="")
    found = list(_requirements(parser.get("options", "install_requires", fallback="").splitlines()))
    if parser.has_section("options.extras_require"):
        for _, value in parser.items("options.extras_require"):
            found += _requirements(value.splitlines())
    return Package(name.strip(), found, "python")


def _requirements_txt(text: str) -> Package:
    return Package("", list(_requirements(text.splitlines())), "python")


def _package_json(text: str) -> Package:
    data = _table(json.loads(text))
    keys = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
    return Package(_text(data.get("name")), [name for key in keys for name in _table(data.get(key))], "npm")


def _cargo(text: str) -> Package:
    data = foreign_toml.loads(text)
    tables = [data, _table(data.get("workspace")), *map(_table, _table(data.get("target")).values())]
    found: list[str] = []
    for table in tables:
        for key in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, value in _table(table.get(key)).items():
                renamed = _table(value).get("package")
                found.append(renamed if isinstance(renamed, str) else name)
    return Package(_text(_table(data.get("package")).get("name")), found, "rust")


def _go_mod(text: str) -> Package:
    module = ""
    found: list[str] = []
    for line in text.splitlines():
        content = line.split("//", 1)[0].strip()
        if match := _GO_MODULE.match(content):
            module = match[1].strip('"')
        elif (match := _GO_REQUIRE.match(content)) and not content.startswith(("replace", "exclude", "retract")):
            found.append(match[1])
    if not module:
        raise ValueError("no module")
    return Package(module, found, "go")


def _pom(text: str) -> Package:
    """By its tags alone: no XML parser meets a stranger's entities."""
    stack: list[str] = []
    name = ""
    found: list[str] = []
    for is_end, tag, rest, content in _XML_TAG.findall(_without_comments(text)):
        tag = tag.rpartition(":")[2]
        if is_end:
            while stack and stack.pop() != tag:
                pass
            continue
        stack.append(tag)
        if tag == "artifactId" and content.strip():
            if stack[:-1] == ["project"]:
                name = content.strip()
            elif stack[-3:-1] == ["dependencies", "dependency"] and "plugin" not in stack:
                found.append(content.strip())
        if rest.endswith("/"):
            stack.pop()
    if not name and not found:
        raise ValueError("no project")
    return Package(name, found, "maven")


def _without_comments(text: str) -> str:
    first, *rest = text.split("<!--")
    return first + "".join(each.partition("-->")[2] for each in rest)


def _gemfile(text: str) -> Package:
    return Package("", [match[1] for line in text.splitlines() if (match := _GEM.match(line))], "ruby")


def _composer(text: str) -> Package:
    data = _table(json.loads(text))
    found = [
        name for key in ("require", "require-dev") for name in _table(data.get(key)) if not _NOT_PACKAGES.match(name)
    ]
    return Package(_text(data.get("name")), found, "php")


_READERS: dict[str, Callable[[str], Package]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "requirements.txt": _requirements_txt,
    "package.json": _package_json,
    "cargo.toml": _cargo,
    "go.mod": _go_mod,
    "pom.xml": _pom,
    "gemfile": _gemfile,
    "composer.json": _composer,
}
_COMPOSE = re.compile(r"(?:docker-)?compose(?:[.-][\w-]{1,40})?\.ya?ml")
_REQUIREMENTS = re.compile(r"requirements[\w.-]{0,60}\.(?:txt|in)")


def _reader_of(path: str) -> Callable[[str], Package] | None:
    name = _base(path)
    if _REQUIREMENTS.fullmatch(name) or (name.endswith(".txt") and "/requirements/" in f"/{path}"):
        return _requirements_txt
    return _READERS.get(name)


def _is_compose(path: str) -> bool:
    return _COMPOSE.fullmatch(_base(path)) is not None


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2].lower()


def _requirements(lines: Iterable[object]) -> Iterator[str]:
    """Yield the names of requirements as pip takes them; options, paths and addresses are none."""
    for line in lines:
        if not isinstance(line, str) or line.lstrip().startswith(("#", "-", ".", "/")) or "://" in line.split("@")[0]:
            continue
        if match := _REQUIREMENT.match(line):
            yield match[1]


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _lines_of(text: str) -> dict[str, int]:
    """Return in which line each word stands first; what is quoted comes before what stands in a comment."""
    lines: dict[str, int] = {}
    for pattern in (_QUOTED, _WORD):
        for number, line in enumerate(text.splitlines(), start=1):
            for word in pattern.findall(line):
                lines.setdefault(word, number)
    return lines
