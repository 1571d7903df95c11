"""What a file of source code imports, read line by line: shapes, not grammar, and no parser of a language.

A package of others is named as its registry does as far as the source says it: the first part of a Python module, the
scope and name of an npm package, a Go module's path, a crate. What comes with the language is left out. A module of
the project itself is named by its dotted or relative path.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Callable, Iterator
from itertools import islice

from siftd.graph.model import Found, Link, Named

LINES_MAX = 20_000
LINE_CHARS_MAX = 1_000
IMPORTS_MAX = 1_000

_PY_FROM = re.compile(r"[ \t]{0,40}from[ \t]{1,8}(\.{0,8})([\w.]{0,200})[ \t]{1,8}import\b")
_PY_IMPORT = re.compile(r"[ \t]{0,40}import[ \t]{1,8}([\w., \t]{1,400})")
_JS = re.compile(
    r"""(?:^|[\s;])(?:import|export)\b[^'"\n;]{0,400}['"]([^'"\n]{1,200})['"]"""
    r"""|\b(?:require|import)\(\s{0,4}['"]([^'"\n]{1,200})['"]"""
    r"""|^\s{0,20}\}\s{0,4}from\s{0,4}['"]([^'"\n]{1,200})['"]"""
)
_GO_SINGLE = re.compile(r"""\s{0,8}import\s{1,8}(?:[\w.]{1,80}\s{1,8})?"([^"\n]{1,200})\"""")
_GO_IN_BLOCK = re.compile(r"""\s{0,8}(?:[\w.]{1,80}\s{1,8})?"([^"\n]{1,200})\"""")
_RUST = re.compile(
    r"\s{0,40}(?:pub(?:\([\w ]{1,20}\))?\s{1,8})?(?:use\s{1,8}(?:::)?|extern\s{1,8}crate\s{1,8})([A-Za-z_]\w{0,80})"
)
_JAVA = re.compile(r"\s{0,8}import\s{1,8}(?:static\s{1,8})?([\w.]{1,200}?)(?:\.\*)?\s{0,8};?\s{0,8}\Z")
_JAVA_PACKAGE = re.compile(r"\s{0,8}package\s{1,8}([\w.]{1,200})")
_RUBY = re.compile(r"""\s{0,20}require(_relative)?\s{0,8}\(?\s{0,8}['"]([\w./-]{1,200})['"]""")
_PHP = re.compile(r"\s{0,8}use\s{1,8}(?:function\s{1,8}|const\s{1,8})?\\?([A-Za-z_]\w{0,80}(?:\\\w{1,80}){0,8})")
_CSHARP = re.compile(r"\s{0,8}(?:global\s{1,8})?using\s{1,8}(?:static\s{1,8})?([A-Za-z_][\w.]{0,200})\s{0,8};")

_RUST_OWN = frozenset("std core alloc crate self super proc_macro test".split())
_NODE = frozenset(
    "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain "
    "events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl "
    "stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib".split()
)
_JS_ENDINGS = frozenset(("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "astro"))


def read_imports(found: Found, path: str, text: str) -> None:
    """Note what a file imports, and the package it is part of where its language says it."""
    ending = path.rpartition(".")[2].lower()
    reader = _READERS.get(ending)
    if reader is None:
        return
    source = Named("file", path)
    found.name(source)
    for number, target in islice(reader(path, text.splitlines()[:LINES_MAX]), IMPORTS_MAX):
        relation = "PART_OF" if number < 0 else "IMPORTS"
        found.link(Link(source, relation, target, "code", abs(number)))


def is_source(path: str) -> bool:
    """Whether the imports of a file can be read, by its name's ending."""
    return path.rpartition(".")[2].lower() in _READERS


_Targets = Iterator[tuple[int, Named]]
"""What a file imports, and in which line; a negative line: what it is part of."""


def _python(path: str, lines: list[str]) -> _Targets:
    package = path.removeprefix("src/").rpartition("/")[0].replace("/", ".")
    root = package.partition(".")[0]
    if package:
        yield -1, Named("package", package)
    for number, line in enumerate(lines, start=1):
        if "import" not in line:
            continue
        if match := _PY_FROM.match(line[:LINE_CHARS_MAX]):
            dots, module = len(match[1]), match[2]
            if dots:
                parts = package.split(".") if package else []
                module = ".".join([*parts[: len(parts) - dots + 1], *([module] if module else [])])
                names = [module]
            else:
                names = [module]
        elif match := _PY_IMPORT.match(line[:LINE_CHARS_MAX]):
            names = [each.split(" as ")[0].strip() for each in match[1].split(",")]
            dots = 0
        else:
            continue
        for name in names:
            first = name.partition(".")[0]
            if name and (dots or (root and first == root)):
                yield number, Named("package", name)
            elif first and first not in sys.stdlib_module_names and first != "__future__":
                yield number, Named("package", first)


def _javascript(path: str, lines: list[str]) -> _Targets:
    folder = path.rpartition("/")[0]
    for number, line in enumerate(lines, start=1):
        if "import" not in line and "require" not in line and "from" not in line and "export" not in line:
            continue
        for groups in _JS.findall(line[:LINE_CHARS_MAX]):
            target = next(filter(None, groups), "")
            if target.startswith("."):
                below = posixpath.normpath(posixpath.join(folder, target))
                if not below.startswith(".."):
                    ending = below.rpartition(".")[2]
                    same = path.rpartition(".")[2]
                    yield number, Named("file", below if ending in _JS_ENDINGS | {"json", "css"} else f"{below}.{same}")
            elif target and not target.startswith(("node:", "/", "#", "~", "@/")) and target.split("/")[0] not in _NODE:
                parts = target.split("/")
                yield number, Named("package", "/".join(parts[:2]) if target.startswith("@") else parts[0])


def _go(_: str, lines: list[str]) -> _Targets:
    is_block = False
    for number, line in enumerate(lines, start=1):
        stripped = line.strip()
        if stripped.startswith("import ("):
            is_block = True
        elif is_block and stripped.startswith(")"):
            is_block = False
        elif match := (_GO_IN_BLOCK if is_block else _GO_SINGLE).match(line[:LINE_CHARS_MAX]):
            if "." in match[1].split("/")[0]:
                yield number, Named("package", match[1])
        elif stripped.startswith(("func ", "type ", "var ", "const ")):
            return


def _rust(_: str, lines: list[str]) -> _Targets:
    for number, line in enumerate(lines, start=1):
        match = _RUST.match(line[:LINE_CHARS_MAX]) if "use " in line or "extern" in line else None
        if match is not None and match[1] not in _RUST_OWN and match[1][0].islower():
            yield number, Named("package", match[1])


def _java(_: str, lines: list[str]) -> _Targets:
    for number, line in enumerate(lines, start=1):
        if match := _JAVA_PACKAGE.match(line[:LINE_CHARS_MAX]):
            yield -number, Named("package", match[1])
        elif "import" in line and (match := _JAVA.match(line[:LINE_CHARS_MAX])):
            parts = match[1].split(".")
            if parts[0] not in ("java", "javax", "kotlin", "scala"):
                named = [each for each in parts if each[:1].islower()]
                yield number, Named("package", ".".join(named or parts))


def _ruby(path: str, lines: list[str]) -> _Targets:
    folder = path.rpartition("/")[0]
    for number, line in enumerate(lines, start=1):
        if "require" in line and (match := _RUBY.match(line[:LINE_CHARS_MAX])):
            if match[1]:
                below = posixpath.normpath(posixpath.join(folder, match[2]))
                yield number, Named("file", below if below.endswith(".rb") else f"{below}.rb")
            else:
                yield number, Named("package", match[2].split("/")[0])


def _php(_: str, lines: list[str]) -> _Targets:
    for number, line in enumerate(lines, start=1):
        if "use" in line and (match := _PHP.match(line[:LINE_CHARS_MAX])) and "\\" in match[1]:
            yield number, Named("package", "\\".join(match[1].split("\\")[:2]))


def _csharp(_: str, lines: list[str]) -> _Targets:
    for number, line in enumerate(lines, start=1):
        if "using" in line and (match := _CSHARP.match(line[:LINE_CHARS_MAX])) and not match[1].startswith("System"):
            yield number, Named("package", match[1])


_READERS: dict[str, Callable[[str, list[str]], _Targets]] = {
    **dict.fromkeys(("py", "pyi"), _python),
    **dict.fromkeys(_JS_ENDINGS, _javascript),
    "go": _go,
    "rs": _rust,
    **dict.fromkeys(("java", "kt", "scala", "groovy"), _java),
    "rb": _ruby,
    "php": _php,
    "cs": _csharp,
}
