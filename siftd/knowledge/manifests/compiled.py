"""Rust, Go, Java and others that are compiled: Cargo.toml, go.mod, pom.xml, build.gradle, CMakeLists.txt and so on."""

from __future__ import annotations

import re

from siftd import foreign_toml
from siftd.knowledge.manifests.declared import (
    SAYS_CHARS_MAX,
    Declared,
    at_line,
    folder_of,
    names,
    path_in,
    table,
    text,
)
from siftd.knowledge.model import CommandKind, EntryPoint, Package
from siftd.knowledge.tree import Tree

_GO_REQUIRE = re.compile(r"\s{0,20}(?:require\s{1,20})?([\w./~-]{3,200})\s{1,20}v[\w.+-]{1,100}(.{0,100})")
_GO_MAIN = re.compile(r"package\s{1,4}main\b")
_ARTIFACT = re.compile(r"\s{0,80}<artifactId>([\w.-]{1,100})</artifactId>")
_USUAL: dict[str, tuple[str, tuple[tuple[CommandKind, str], ...]]] = {
    "pom.xml": ("java", (("build", "mvn package"), ("test", "mvn test"))),
    "build.gradle": ("java", (("build", "gradle build"), ("test", "gradle test"))),
    "build.gradle.kts": ("java", (("build", "gradle build"), ("test", "gradle test"))),
    "mix.exs": ("elixir", (("build", "mix compile"), ("test", "mix test"))),
    "Package.swift": ("swift", (("build", "swift build"), ("test", "swift test"))),
    "CMakeLists.txt": ("cmake", (("build", "cmake --build build"), ("test", "ctest"))),
    "meson.build": ("meson", (("build", "meson compile -C build"), ("test", "meson test -C build"))),
}


def read(tree: Tree, path: str, into: Declared) -> None:
    """Read one manifest of a compiled language."""
    name = path.rpartition("/")[2]
    if name == "Cargo.toml":
        _cargo(tree, path, into)
    elif name == "go.mod":
        _go(tree, path, into)
    elif name in _USUAL:
        _usual(tree, path, name, into)
    elif name.startswith(".golangci."):
        into.offer("lint", "golangci-lint run", f"{path}:1", 55, where=folder_of(path), basis="usual")
        into.convene("golangci-lint is set up", f"{path}:1")


def _usual(tree: Tree, path: str, name: str, into: Declared) -> None:
    ecosystem, commands = _USUAL[name]
    folder = folder_of(path)
    if folder and tree.has(name):  # a part of what the root builds
        return
    for kind, command in commands:
        if command.startswith("gradle ") and tree.has(path_in(folder, "gradlew")):
            command = f"./gradlew {command.partition(' ')[2]}"
        if command.startswith("mvn ") and tree.has(path_in(folder, "mvnw")):
            command = f"./mvnw {command.partition(' ')[2]}"
        into.offer(kind, command, f"{path}:1", 50, where=folder, basis="usual")
    found = next((found[1] for each in tree.lines(path) if (found := _ARTIFACT.match(each))), "")
    if found:
        into.packages.append(Package(name=found, path=folder, ecosystem=ecosystem, evidence=(f"{path}:1",)))


def _cargo(tree: Tree, path: str, into: Declared) -> None:
    try:
        whole = foreign_toml.loads(tree.read(path) or "")
    except ValueError:
        tree.skip(path, "it is no TOML that can be read")
        return
    folder, package = folder_of(path), table(whole, "package")
    is_root = not folder or not tree.has("Cargo.toml")
    if is_root:
        for kind, command in (("build", "cargo build"), ("test", "cargo test"), ("lint", "cargo clippy")):
            evidence = at_line(tree, path, "[package]" if package else "[workspace]")
            into.offer(kind, command, evidence, 50 if kind != "lint" else 70, where=folder, basis="usual")  # type: ignore[arg-type]
    name = text(package.get("name"))
    if not name:
        return
    into.packages.append(
        Package(
            name=name,
            path=folder,
            ecosystem="cargo",
            version=text(package.get("version"), 40),
            uses=names(table(whole, "dependencies")),
            evidence=(at_line(tree, path, "[package]", "name"),),
        )
    )
    says = text(package.get("description"), SAYS_CHARS_MAX)
    into.says.append((name, says, at_line(tree, path, "[package]", "description")))
    wanted = package.get("rust-version") or package.get("edition")
    into.version(
        "Rust",
        wanted if package.get("rust-version") else f"edition {wanted}" if wanted else "",
        at_line(tree, path, "[package]", "rust-version" if package.get("rust-version") else "edition"),
    )
    places = [("program", name, path_in(folder, "src/main.rs")), ("library", name, path_in(folder, "src/lib.rs"))]
    for each in whole.get("bin", []) if isinstance(whole.get("bin"), list) else []:
        if isinstance(each, dict) and text(each.get("name")):
            at = path_in(folder, text(each.get("path")) or f"src/bin/{text(each.get('name'))}.rs")
            places.append(("command", text(each.get("name")), at))
    for kind, called, at in places:
        if at in tree.names and all((each.path, each.kind) != (at, "command") for each in into.entries):
            into.enter(EntryPoint(name=called, kind=kind, target=at, path=at, evidence=(f"{at}:1",)))  # type: ignore[arg-type]


def _go(tree: Tree, path: str, into: Declared) -> None:
    folder, module, uses = folder_of(path), "", []
    for number, line in enumerate(tree.lines(path), start=1):
        if line.startswith("module ") and not module:
            module = text(line.split()[1] if len(line.split()) > 1 else "")
            into.packages.append(Package(name=module, path=folder, ecosystem="go", evidence=(f"{path}:{number}",)))
            into.says.append((module.rpartition("/")[2], "", f"{path}:{number}"))
        elif line.startswith("go "):
            into.version("Go", line[3:].strip(), f"{path}:{number}")
        elif (found := _GO_REQUIRE.fullmatch(line)) and "indirect" not in found[2]:
            uses.append(found[1])
    if not module:
        tree.skip(path, "it names no module")
        return
    into.packages[-1] = Package(
        name=module, path=folder, ecosystem="go", uses=names(uses), evidence=into.packages[-1].evidence
    )
    for kind, command in (("build", "go build ./..."), ("test", "go test ./..."), ("lint", "go vet ./...")):
        into.offer(kind, command, f"{path}:1", 50 if kind != "lint" else 75, where=folder, basis="usual")  # type: ignore[arg-type]
    for each in tree.code:
        if each.endswith("/main.go" if "/" in each else "main.go") and (not folder or each.startswith(f"{folder}/")):
            lines = tree.lines(each)
            number = next((at for at, line in enumerate(lines[:300], start=1) if _GO_MAIN.match(line)), 0)
            if number:
                name = folder_of(each).rpartition("/")[2] or module.rpartition("/")[2]
                target = f"./{folder_of(each)}" if folder_of(each) else "."
                into.enter(
                    EntryPoint(name=name, kind="program", target=target, path=each, evidence=(f"{each}:{number}",))
                )
    own = [
        each
        for each in tree.code
        if folder_of(each) == folder and each.endswith(".go") and not each.endswith("_test.go")
    ]
    if own and not any(_GO_MAIN.match(line) for each in own[:1] for line in tree.lines(each)[:300]):
        into.enter(EntryPoint(name=module, kind="library", target=module, path=own[0], evidence=(f"{own[0]}:1",)))
