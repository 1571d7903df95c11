"""Which file of the project an import means: looked up among the files that are there, never guessed."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from functools import lru_cache

from siftd.knowledge.languages import language_of

_SCRIPT_SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".d.ts")
_DOTTED = {"Java": (".java", ".kt"), "Kotlin": (".kt", ".java"), "Scala": (".scala", ".java"), "PHP": (".php",)}


class Resolver:
    """Knows the files of a project and the names by which they are imported."""

    def __init__(self, paths: Iterable[str], packages: Mapping[str, tuple[str, str]]) -> None:
        """`packages`: of names that manifests declare, the folder and its main file, "" where none is named."""
        self._paths = frozenset(paths)
        self._packages = packages
        self._by_end: dict[str, list[str]] = {}
        for path in sorted(self._paths):
            self._by_end.setdefault(path.rpartition("/")[2], []).append(path)
        self._roots = self._python_roots()
        plain = (each for each in sorted(self._paths, reverse=True) if each.endswith(".go"))
        self._go_files = {each.rpartition("/")[0]: each for each in plain if not each.endswith("_test.go")}
        """A file that stands for each folder: a Go package is all of them."""
        self.resolve = lru_cache(maxsize=100_000)(self._resolve)

    def _resolve(self, path: str, name: str) -> str:
        """Return the file that `name`, imported by the file `path`, means; "" for one of others."""
        language = language_of(path)
        if language == "Python":
            return self._python(path, name)
        if language in ("JavaScript", "TypeScript", "Vue", "Svelte"):
            return self._script(path, name)
        if language == "Go":
            return self._go(name)
        if language == "Rust":
            return self._rust(path, name)
        if language in _DOTTED:
            return self._dotted(name, _DOTTED[language])
        if language in ("C", "C++"):
            return self._included(path, name)
        if language == "Ruby":
            return self._ruby(path, name)
        return ""

    def _first(self, *paths: str) -> str:
        return next((each for each in paths if each in self._paths), "")

    def _python_roots(self) -> list[str]:
        """Return the folders from which names are imported: those above a package, the root first."""
        with_init = {each.rpartition("/")[0] for each in self._paths if each.endswith("/__init__.py")}
        roots = {each.rpartition("/")[0] for each in with_init if each.rpartition("/")[0] not in with_init}
        return ["", *sorted((roots | {"src"}) - {""}, key=lambda each: (each.count("/"), each))][:50]

    def _python(self, path: str, name: str) -> str:
        base, _, taken = name.partition(":")
        if taken and (found := self._python_module(path, base + "." * (not base.endswith(".")) + taken)):
            return found
        return self._python_module(path, base)

    def _python_module(self, path: str, name: str) -> str:
        dots = len(name) - len(name.lstrip("."))
        below = name[dots:].replace(".", "/")
        if dots:
            folder = path.rpartition("/")[0]
            for _ in range(dots - 1):
                if not folder:
                    return ""
                folder = folder.rpartition("/")[0]
            return self._python_file(posixpath.join(folder, below) if below else folder)
        found = (self._python_file(f"{root}/{below}" if root else below) for root in self._roots)
        return next((each for each in found if each), "") or self._python_file(
            posixpath.join(path.rpartition("/")[0], below)
        )

    def _python_file(self, at: str) -> str:
        return self._first(f"{at}.py", f"{at}/__init__.py" if at else "__init__.py", f"{at}.pyi", f"{at}.pyx")

    def _script(self, path: str, name: str) -> str:
        if name.startswith("."):
            at = posixpath.normpath(posixpath.join(path.rpartition("/")[0], name))
            return "" if at.startswith("..") else self._script_file("" if at == "." else at)
        parts = name.split("/")
        package = "/".join(parts[: 2 if name.startswith("@") else 1])
        if package in self._packages:
            folder, main = self._packages[package]
            inside = name[len(package) + 1 :]
            if not inside and main:
                return self._script_file(posixpath.normpath(posixpath.join(folder, main)))
            at = posixpath.normpath(posixpath.join(folder, inside or "src/index"))
            return self._script_file(at) or self._script_file(folder)
        return self._script_file(f"src/{name[2:]}") if name.startswith(("@/", "~/")) else ""

    def _script_file(self, at: str) -> str:
        plain = posixpath.splitext(at)[0] if at.endswith((".js", ".mjs", ".cjs", ".jsx")) else at
        found = self._first(at, *(f"{plain}{each}" for each in _SCRIPT_SUFFIXES if at))
        if found:
            return found
        here = next((main for folder, main in self._packages.values() if folder == at and main), "")
        index = posixpath.join(at, posixpath.normpath(here)) if here else ""
        return self._first(index, f"{index}.js", *(posixpath.join(at, f"index{each}") for each in _SCRIPT_SUFFIXES))

    def _go(self, name: str) -> str:
        for package, (folder, _) in self._packages.items():
            if name == package or name.startswith(f"{package}/"):
                at = posixpath.join(folder, name[len(package) + 1 :]).rstrip("/")
                return self._go_files.get(at, "")
        return ""

    def _rust(self, path: str, name: str) -> str:
        words = name.split("::")
        folder, _, file = path.rpartition("/")
        inside = folder if file in ("mod.rs", "lib.rs", "main.rs") else posixpath.join(folder, file[:-3])
        head, rest = words[0], words[1:]
        if head == "crate":
            at = _crate_root(path)
        elif head == "super":
            at = inside.rpartition("/")[0]
            while rest[:1] == ["super"]:
                at, rest = at.rpartition("/")[0], rest[1:]
        elif head == "self":
            at = inside
        else:
            known = {each.replace("-", "_"): where for each, (where, _) in self._packages.items()}
            if head not in known:
                return ""
            at = posixpath.join(known[head], "src")
        for many in range(min(len(rest), 4), 0, -1):
            below = posixpath.join(at, *rest[:many])
            if found := self._first(f"{below}.rs", f"{below}/mod.rs"):
                return found
        return self._first(posixpath.join(at, "lib.rs"), posixpath.join(at, "mod.rs"), f"{at}.rs")

    def _dotted(self, name: str, suffixes: tuple[str, ...]) -> str:
        parts = [each for each in name.replace("\\", ".").split(".") if each]
        for many in (len(parts), len(parts) - 1):
            if many < 1:
                return ""
            end = "/".join(parts[:many])
            for suffix in suffixes:
                for each in self._by_end.get(f"{parts[many - 1]}{suffix}", ()):
                    if f"/{each}".endswith(f"/{end}{suffix}") or (suffix == ".php" and many > 1):
                        return each
        return ""

    def _included(self, path: str, name: str) -> str:
        here = posixpath.normpath(posixpath.join(path.rpartition("/")[0], name))
        if here in self._paths:
            return here
        ends = (each for each in self._by_end.get(name.rpartition("/")[2], ()) if f"/{each}".endswith(f"/{name}"))
        return next(ends, "")

    def _ruby(self, path: str, name: str) -> str:
        if name.startswith("./"):
            return self._first(posixpath.normpath(posixpath.join(path.rpartition("/")[0], f"{name}.rb")))
        return self._first(f"lib/{name}.rb", f"{name}.rb")


def _crate_root(path: str) -> str:
    """Return the `src` folder that a file of Rust is in."""
    parts = path.split("/")[:-1]
    while parts and parts[-1] != "src":
        parts.pop()
    return "/".join(parts)
