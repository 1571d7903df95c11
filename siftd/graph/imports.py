"""Which packages and files a file of source code imports (`siftd.symbols.imports` reads what it names).

A package of others is named as its registry does as far as the source says it: the first part of a Python module, the
scope and name of an npm package, a Go module's path, a crate. What comes with the language is left out. A module of
the project itself is named by its dotted or relative path.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Callable, Iterator

from siftd.graph.model import Found, Link, Named
from siftd.symbols.imports import has_imports, imports_of

LINES_MAX = 20_000
LINE_CHARS_MAX = 1_000

_JAVA_PACKAGE = re.compile(r"\s{0,8}package\s{1,8}([\w.]{1,200})")
_RUST_OWN = frozenset("std core alloc crate self super proc_macro test".split())
_NODE = frozenset(
    "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain "
    "events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl "
    "stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib".split()
)
_JS_ENDINGS = frozenset(("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "astro"))
_JAVA_OWN = ("java", "javax", "kotlin", "scala")


def is_source(path: str) -> bool:
    """Whether the packages that a file imports can be named, by its name's ending."""
    return has_imports(path) and _ending(path) in _TARGETS


def read_imports(found: Found, path: str, text: str) -> None:
    """Note what a file imports, and the package it is part of where its language says it."""
    if not is_source(path):
        return
    source = Named("file", path)
    found.name(source)
    lines = [line[:LINE_CHARS_MAX] for line in text.splitlines()[:LINES_MAX]]
    for line, package in _own_package(path, lines):
        found.link(Link(source, "PART_OF", Named("package", package), "code", line))
    target_of = _TARGETS[_ending(path)]
    seen: set[tuple[int, Named]] = set()
    for line, name in imports_of(path, lines):
        target = target_of(path, name)
        if target is not None and (line, target) not in seen:
            seen.add((line, target))
            found.link(Link(source, "IMPORTS", target, "code", line))


def _ending(path: str) -> str:
    return path.rpartition(".")[2].lower()


def _own_package(path: str, lines: list[str]) -> Iterator[tuple[int, str]]:
    if _ending(path) in ("py", "pyi"):
        if package := _python_package(path):
            yield 1, package
    elif _TARGETS[_ending(path)] is _java:
        for number, line in enumerate(lines, start=1):
            if match := _JAVA_PACKAGE.match(line):
                yield number, match[1]
                return


def _python_package(path: str) -> str:
    return path.removeprefix("src/").rpartition("/")[0].replace("/", ".")


def _python(path: str, name: str) -> Named | None:
    module, package = name.partition(":")[0], _python_package(path)
    below = module.lstrip(".")
    dots = len(module) - len(below)
    if dots:
        parts = package.split(".") if package else []
        module = ".".join([*parts[: len(parts) - dots + 1], *([below] if below else [])])
        return Named("package", module) if module else None
    first, root = module.partition(".")[0], package.partition(".")[0]
    if root and first == root:
        return Named("package", module)
    is_own = first in sys.stdlib_module_names or first in ("", "__future__")
    return None if is_own else Named("package", first)


def _javascript(path: str, name: str) -> Named | None:
    if name.startswith("."):
        below = posixpath.normpath(posixpath.join(path.rpartition("/")[0], name))
        if below.startswith(".."):
            return None
        has_ending = _ending(below) in _JS_ENDINGS | {"json", "css"}
        return Named("file", below if has_ending else f"{below}.{path.rpartition('.')[2]}")
    parts = name.split("/")
    if name.startswith(("node:", "/", "#", "~", "@/")) or parts[0] in _NODE:
        return None
    return Named("package", "/".join(parts[:2]) if name.startswith("@") else parts[0])


def _go(_: str, name: str) -> Named | None:
    return Named("package", name) if "." in name.split("/")[0] else None


def _rust(_: str, name: str) -> Named | None:
    crate = name.partition("::")[0]
    return Named("package", crate) if crate[:1].islower() and crate not in _RUST_OWN else None


def _java(_: str, name: str) -> Named | None:
    parts = [each for each in name.split(".") if each]
    if not parts or parts[0] in _JAVA_OWN:
        return None
    return Named("package", ".".join([each for each in parts if each[:1].islower()] or parts))


def _ruby(path: str, name: str) -> Named | None:
    if not name.startswith("."):
        return Named("package", name.split("/")[0])
    below = posixpath.normpath(posixpath.join(path.rpartition("/")[0], name))
    return Named("file", below if below.endswith(".rb") else f"{below}.rb")


def _php(_: str, name: str) -> Named | None:
    parts = name.strip("\\").split("\\")
    return Named("package", "\\".join(parts[:2])) if len(parts) > 1 else None


def _csharp(_: str, name: str) -> Named | None:
    return None if name.startswith("System") else Named("package", name)


_TARGETS: dict[str, Callable[[str, str], Named | None]] = {
    **dict.fromkeys(("py", "pyi"), _python),
    **dict.fromkeys(_JS_ENDINGS, _javascript),
    "go": _go,
    "rs": _rust,
    **dict.fromkeys(("java", "kt", "scala", "groovy"), _java),
    "rb": _ruby,
    "php": _php,
    "cs": _csharp,
}
