"""What a file of code imports, as it names it: read line by line, run by nobody, by shapes and not by a grammar.

A line that looks like an import within a longer string may be taken for one. What an import means is looked up by those
who ask: which file of the project it is (`siftd.knowledge.relations`), which package of others (`siftd.graph.imports`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

IMPORTS_MAX = 400
"""Of one file."""
Found = tuple[int, str]
"""A line's number, and what it imports."""

_PYTHON_FROM = re.compile(r"\s{0,80}from\s{1,20}(\.{0,10}[\w.]{0,200})\s{1,20}import\b(.{0,500})")
_PYTHON_IMPORT = re.compile(r"\s{0,80}import\s{1,20}([\w., ]{1,500})")
_SCRIPT = re.compile(
    r"""(?:\bfrom\s{0,20}|\brequire\s{0,20}\(\s{0,20}|\bimport\s{0,20}\(?\s{0,20})["']([^"']{1,300})["']"""
)
_GO_IMPORT = re.compile(
    r"""\s{0,20}(?:import\s{1,20})?(?:[\w.]{1,60}\s{1,20})?"([^"]{1,300})"\s{0,20}(?://.{0,200})?"""
)
_RUST_USE = re.compile(
    r"\s{0,80}(?:pub(?:\([\w ]{1,30}\))?\s{1,20})?(use|mod|extern\s{1,20}crate)\s{1,20}(?:::)?([\w:]{1,300})(.{0,300})"
)
_WORD = re.compile(r"\w{1,80}")
_JAVA_IMPORT = re.compile(r"\s{0,20}import\s{1,20}(?:static\s{1,20})?([\w.]{1,300})")
_INCLUDE = re.compile(r"""\s{0,20}#\s{0,20}include\s{0,20}["<]([^">]{1,300})[">]""")
_RUBY = re.compile(r"""\s{0,20}require(_relative)?\s{0,20}\(?\s{0,20}["']([^"']{1,300})["']""")
_PHP = re.compile(r"\s{0,20}use\s{1,20}(?:(?:function|const)\s{1,20})?([\w\\]{1,300})")
_CSHARP = re.compile(r"\s{0,20}(?:global\s{1,20})?using\s{1,20}(?:static\s{1,20})?([A-Za-z_][\w.]{0,300})\s{0,20};")
_QUOTES = ('"""', "'''")


def has_imports(path: str) -> bool:
    """Whether what a file imports can be read, by its name's ending."""
    return _suffix(path) in _READERS


def imports_of(path: str, lines: Sequence[str]) -> list[Found]:
    """Return what a file imports, each once, in order: dotted names, paths or URLs as its language writes them.

    Python's are written with the dots of a relative one before, and what is taken of a module behind a colon:
    `from .a import b` gives ".a:b", since `b` may be a module or a name in one.
    """
    read = _READERS.get(_suffix(path))
    found: dict[str, int] = {}
    for number, name in read(lines) if read else ():
        found.setdefault(name, number)
        if len(found) >= IMPORTS_MAX:
            break
    return [(number, name) for name, number in found.items()]


def _python(lines: Sequence[str]) -> Iterator[Found]:
    quote = ""
    open_from = ""
    for number, line in enumerate(lines, start=1):
        if quote:
            quote = "" if line.count(quote) % 2 else quote
            continue
        quote = next((each for each in _QUOTES if line.count(each) % 2), "")
        if open_from:
            yield from ((number, f"{open_from}:{name}") for name in _names(line.partition(")")[0]))
            open_from = "" if ")" in line else open_from
        elif found := _PYTHON_FROM.match(line):
            base, rest = found[1], found[2]
            taken = list(_names(rest))
            yield from ((number, f"{base}:{name}") for name in taken)
            if not taken and "(" not in rest:
                yield number, base
            open_from = base if "(" in rest and ")" not in rest else ""
        elif found := _PYTHON_IMPORT.match(line):
            yield from ((number, each.split()[0]) for each in found[1].split(",") if each.strip())


def _names(text: str) -> Iterator[str]:
    for each in text.partition("#")[0].strip(" ()\\").split(","):
        name = each.split(" as ")[0].strip()
        if name.isidentifier():
            yield name


def _script(lines: Sequence[str]) -> Iterator[Found]:
    is_comment = False
    for number, line in enumerate(lines, start=1):
        start = line.lstrip()[:2]
        if is_comment or start == "/*":
            is_comment = "*/" not in line
        elif start not in ("//", "* "):
            yield from ((number, found[1]) for found in _SCRIPT.finditer(line))


def _go(lines: Sequence[str]) -> Iterator[Found]:
    is_block = False
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text.startswith(("func ", "type ", "var ", "const ")):
            return
        if text.startswith("import ("):
            is_block = True
        elif is_block and text == ")":
            is_block = False
        elif (is_block or text.startswith("import ")) and (found := _GO_IMPORT.fullmatch(text)):
            yield number, found[1]


def _rust(lines: Sequence[str]) -> Iterator[Found]:
    for number, line in enumerate(lines, start=1):
        found = _RUST_USE.match(line)
        if found is None:
            continue
        word, path, rest = found[1], found[2], found[3]
        if word == "mod":
            if rest.lstrip().startswith(";"):
                yield number, f"self::{path}"
            continue
        yield number, path.rstrip(":")
        if path.endswith("::") and rest.startswith("{"):
            yield from ((number, path + each) for each in _WORD.findall(rest.partition("}")[0]))


def _by(pattern: re.Pattern[str]) -> Callable[[Sequence[str]], Iterator[Found]]:
    def read(lines: Sequence[str]) -> Iterator[Found]:
        for number, line in enumerate(lines, start=1):
            if found := pattern.match(line):
                yield number, found[1]

    return read


def _ruby(lines: Sequence[str]) -> Iterator[Found]:
    for number, line in enumerate(lines, start=1):
        if found := _RUBY.match(line):
            yield number, f"./{found[2]}" if found[1] else found[2]


def _suffix(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower()


_READERS: dict[str, Callable[[Sequence[str]], Iterator[Found]]] = {
    **dict.fromkeys("py pyi pyx".split(), _python),
    **dict.fromkeys("js cjs mjs jsx ts cts mts tsx vue svelte astro".split(), _script),
    "go": _go,
    "rs": _rust,
    **dict.fromkeys("java kt kts scala groovy".split(), _by(_JAVA_IMPORT)),
    **dict.fromkeys("c h cc cpp cxx hpp hh hxx".split(), _by(_INCLUDE)),
    "rb": _ruby,
    "php": _by(_PHP),
    "cs": _by(_CSHARP),
}
