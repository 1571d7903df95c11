"""What manifests, sources, git and commands say, and how a manifest that cannot be read is told."""

from __future__ import annotations

import pytest

from siftd.graph.events import Happened, read_event
from siftd.graph.imports import read_imports
from siftd.graph.manifests import CHARS_MAX, read_manifest
from siftd.graph.model import Found, Named

PROJECT = Named("project", "demo")


def of_manifest(path: str, text: str) -> tuple[str, set[tuple[str, str]]]:
    found = Found()
    result = read_manifest(found, path, text, PROJECT)
    return result.problem, {(link.src.name, link.dst.name) for link, _ in found.links}


def of_source(path: str, text: str) -> set[tuple[str, str]]:
    found = Found()
    read_imports(found, path, text)
    return {(link.type, link.dst.name) for link, _ in found.links}


def of_event(**fields: object) -> tuple[Found, set[tuple[str, str, str]]]:
    given = {
        "action": "run", "outcome": "ok", "branch": None, "command": None, "output": "", "paths": (), "symbols": (),
        "written": None, **fields,
    }  # fmt: skip
    found = Found()
    read_event(found, Happened(**given), "/src/demo", PROJECT)  # type: ignore[arg-type]
    return found, {(link.src.name, link.type, link.dst.name) for link, _ in found.links}


COMPOSE = """
services:
  auth:
    image: ghcr.io/acme/auth:1.2
    depends_on:
      - redis
      - "db"   # the main one
  redis:
    image: redis:7
  web:
    depends_on:
      auth:
        condition: service_healthy
      db: {condition: service_started}
    environment:
      depends_on: nothing
  db:
    image: postgres:16
    depends_on: [redis]
volumes:
  data:
"""


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        (
            "pyproject.toml",
            '[project]\nname = "app"\ndependencies = ["httpx[http2]>=0.2; python_version > \'3\'", "My_Pkg"]\n'
            '[project.optional-dependencies]\nx = ["numpy"]\n'
            '[dependency-groups]\ndev = ["pytest", {include-group="y"}]\n',
            {("app", "httpx"), ("app", "My_Pkg"), ("app", "numpy"), ("app", "pytest")},
        ),
        (
            "api/pyproject.toml",
            '[tool.poetry]\nname = "app"\n[tool.poetry.dependencies]\npython = "^3.11"\ndjango = "*"\n'
            '[tool.poetry.group.dev.dependencies]\nruff = "*"\n',
            {("app", "django"), ("app", "ruff")},
        ),
        (
            "setup.cfg",
            "[metadata]\nname = app\n[options]\ninstall_requires =\n    requests>=2\n"
            "[options.extras_require]\nd = attrs\n",
            {("app", "requests"), ("app", "attrs")},
        ),
        (
            "requirements/dev.txt",
            "# c\n-r base.txt\nDjango[argon2]>=4\nfoo @ https://a.b/c.whl\nhttps://a.b/c.whl\n./local\n",
            {("demo", "Django"), ("demo", "foo")},
        ),
        (
            "web/package.json",
            '{"name": "@a/web", "dependencies": {"react": "1"}, "devDependencies": {"@x/y": "2"}}',
            {("@a/web", "react"), ("@a/web", "@x/y")},
        ),
        (
            "Cargo.toml",
            '[package]\nname = "c"\n[dependencies]\nserde = "1"\nfoo = {package = "bar"}\n'
            "[target.'cfg(unix)'.dependencies]\nlibc = \"1\"\n",
            {("c", "serde"), ("c", "bar"), ("c", "libc")},
        ),
        (
            "go.mod",
            "module github.com/a/b\n\nrequire (\n\tgithub.com/x/y v1.2.3\n\tgolang.org/x/net v0 // indirect\n)\n"
            "replace github.com/z/z v1 => ../z\n",
            {("github.com/a/b", "github.com/x/y"), ("github.com/a/b", "golang.org/x/net")},
        ),
        (
            "pom.xml",
            "<project><!-- <dependency> --><parent><artifactId>par</artifactId></parent><artifactId>me</artifactId>"
            "<dependencies><dependency><groupId>g</groupId><artifactId>dep</artifactId></dependency></dependencies>"
            "<build><plugins><plugin><artifactId>plug</artifactId></plugin></plugins></build></project>",
            {("me", "dep")},
        ),
        ("Gemfile", "source 'x'\ngem 'rails', '~> 7'\n  gem \"pg\"\n", {("demo", "rails"), ("demo", "pg")}),
        (
            "composer.json",
            '{"name": "v/p", "require": {"php": ">=8", "ext-json": "*", "monolog/monolog": "1"}}',
            {("v/p", "monolog/monolog")},
        ),
        (
            "compose.yaml",
            COMPOSE,
            {("auth", "redis"), ("auth", "db"), ("web", "auth"), ("web", "db"), ("db", "postgres"), ("db", "redis")},
        ),
    ],
)
def test_a_manifest_says_what_depends_on_what(path: str, text: str, said: set[tuple[str, str]]) -> None:
    assert of_manifest(path, text) == ("", said)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", "{nope"),
        ("package.json", "[" * 100_000),
        ("package.json", '{"name": "x", "dependencies": {"a": "' + "1" * CHARS_MAX + '"}}'),
        ("Cargo.toml", "[["),
        ("pyproject.toml", "a = " + "[" * 100_000),
        ("pyproject.toml", "1." * 100_000),
        ("Cargo.toml", "[" + "a." * 5_001 + "a]\n"),
        ("setup.cfg", "no section"),
        ("go.mod", "nothing here"),
        ("pom.xml", "<html>"),
        ("compose.yml", "a: b"),
        ("composer.json", "\x00"),
    ],
)
def test_a_manifest_that_does_not_parse_says_so_and_gives_nothing(path: str, text: str) -> None:
    problem, said = of_manifest(path, text)
    assert problem
    assert said == set()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", '{"name": 5, "dependencies": ["a"], "devDependencies": {"a b\\n": "1", "ok": {}}}'),
        ("pyproject.toml", 'project = 3\n[tool]\npoetry = "x"\n'),
        ("Cargo.toml", 'package = 3\ndependencies = {"x y" = 1}\n'),
        ("pom.xml", "<project><artifactId>" + "<!--" * 100_000),
        ("requirements.txt", "\n".join(f"p{n}" for n in range(50_000))),
        ("compose.yaml", "services:\n" + "  a:\n" * 50_000),
        ("package.json", '{"dependencies": {"' + "x" * 500 + '": "1", "[REDACTED:token:ab12]": "1"}}'),
    ],
)
def test_a_hostile_manifest_gives_names_alone(path: str, text: str) -> None:
    _, said = of_manifest(path, text)
    assert all(len(name) <= 200 and "REDACTED" not in name and "\n" not in name for pair in said for name in pair)


def test_a_manifest_names_the_line_of_each_and_that_it_names_all() -> None:
    found = Found()
    read_manifest(found, "go.mod", "module a.b/c\nrequire d.e/f v1\n", PROJECT)
    assert [link.line for link, _ in found.links] == [2]
    assert found.complete == {Named("package", "a.b/c")}


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        (
            "src/app/x.py",
            "import os, numpy as np\nfrom app.store import meta\nfrom . import a\nfrom requests.auth import X\n",
            {
                ("PART_OF", "app"),
                ("IMPORTS", "numpy"),
                ("IMPORTS", "app.store"),
                ("IMPORTS", "app"),
                ("IMPORTS", "requests"),
            },
        ),
        (
            "web/a/x.ts",
            "import React from 'react';\nimport {\n a\n} from './b';\nexport * from '../c.js'\n"
            "const f = require('fs'), e = require('@s/p/q');\nimport x from 'node:path'\n",
            {("IMPORTS", "react"), ("IMPORTS", "web/a/b.ts"), ("IMPORTS", "web/c.js"), ("IMPORTS", "@s/p")},
        ),
        (
            "m/x.go",
            'package m\nimport (\n\t"fmt"\n\tx "github.com/a/b"\n)\nfunc main() { y("c.d/e") }\n',
            {("IMPORTS", "github.com/a/b")},
        ),
        (
            "x.rs",
            "use serde::De;\nuse std::io;\npub use crate::a;\nextern crate libc;",
            {("IMPORTS", "serde"), ("IMPORTS", "libc")},
        ),
        (
            "A.java",
            "package com.acme;\nimport java.util.List;\nimport com.acme.auth.Token;\nimport static org.junit.Assert.*;",
            {("PART_OF", "com.acme"), ("IMPORTS", "com.acme.auth"), ("IMPORTS", "org.junit")},
        ),
        ("x.rb", "require 'rails/all'\nrequire_relative '../y'\n", {("IMPORTS", "rails"), ("IMPORTS", "../y.rb")}),
        ("x.php", "use Monolog\\Logger;\n", {("IMPORTS", "Monolog\\Logger")}),
        ("x.cs", "using System.Text;\nusing Newtonsoft.Json;\n", {("IMPORTS", "Newtonsoft.Json")}),
        ("x.txt", "import os\n", set()),
    ],
)  # fmt: skip
def test_a_source_says_what_it_imports(path: str, text: str, said: set[tuple[str, str]]) -> None:
    assert of_source(path, text) == said


@pytest.mark.parametrize("ending", ["py", "ts", "go", "rs", "java", "rb", "php", "cs"])
@pytest.mark.parametrize("hostile", ["import " * 100_000, "use \\" * 100_000, "import (\n" * 100_000, "'\"" * 100_000])
def test_a_hostile_source_is_read_to_its_end(ending: str, hostile: str) -> None:
    of_source(f"x.{ending}", hostile)


def test_a_commit_names_who_made_it_what_it_is_about_and_what_it_renamed() -> None:
    found, said = of_event(
        command='git commit -m "Fix login" -m "Fixes #12" -m "Co-authored-by: Ada Lovelace <a@b.c>"',
        output="[main 1a2b3c4] Fix login\n rename src/{a => b}/x.py (98%)\n create mode 100644 z.py\n",
    )
    assert said == {
        ("1a2b3c4", "PART_OF", "main"),
        ("1a2b3c4", "REFERENCES", "#12"),
        ("1a2b3c4", "CREATED_BY", "Ada Lovelace"),
        ("Ada Lovelace", "WORKS_ON", "demo"),
        ("src/a/x.py", "RENAMED_TO", "src/b/x.py"),
        ("1a2b3c4", "EDITS", "z.py"),
    }
    assert not any("@" in each.named.name for each in found.spoken), "no address of mail is a name"


def test_a_log_names_authors_and_a_move_keeps_the_old_name() -> None:
    _, said = of_event(
        command="git log -1",
        output=f"commit {'12' * 20}\nAuthor: Bob B <b@c>\nDate: x\n\n    Do it\n\n    Closes: ABC-12\n",
    )
    assert said == {
        ("12" * 20, "CREATED_BY", "Bob B"),
        ("Bob B", "WORKS_ON", "demo"),
        ("12" * 20, "REFERENCES", "ABC-12"),
    }
    found, said = of_event(command="cd lib && git mv a.py sub/")
    assert said == {("lib/a.py", "RENAMED_TO", "lib/sub/a.py")}
    assert [each.alias for each in found.aliases] == ["lib/a.py"]
    assert of_event(command="git mv a.py b.py", outcome="failed")[1] == set()
    assert of_event(command="cd lib && mv a.py ../b.py")[1] == {("lib/a.py", "RENAMED_TO", "b.py")}
    for elsewhere in ("mv a.py folder", "mv -f a.py b.py", "mv *.py b.py", "mv a.py /tmp/b.py", "mv a.py b.txt"):
        assert of_event(command=elsewhere)[1] == set()
    assert of_event(command="cd /elsewhere && git mv a.py b.py")[1] == set()


def test_a_run_names_its_command_its_tests_and_their_errors() -> None:
    _, said = of_event(
        command="pytest", outcome="failed", output="FAILED tests/test_a.py::test_b - ValueError: bad thing\n"
    )
    assert ("tests/test_a.py::test_b", "PART_OF", "tests/test_a.py") in said
    assert ("ValueError: bad thing", "RELATED_TO", "tests/test_a.py::test_b") in said
    assert of_event(command="npm test")[1] == {("npm test", "USES", "npm")}
    assert of_event(command="pip install -U 'httpx>=1' requests -e .")[1] == {
        ("demo", "USES", "requests"),
        ("demo", "USES", "httpx"),
    }


def test_an_edit_names_file_symbols_branch_and_imports_and_nothing_outside_of_the_project() -> None:
    found, said = of_event(
        action="edit",
        paths=("/src/demo/a/b.py", "/etc/passwd"),
        symbols=("foo",),
        branch="main",
        written="import numpy\n",
    )
    assert said == {
        ("main", "EDITS", "a/b.py"),
        ("foo", "PART_OF", "a/b.py"),
        ("a/b.py", "PART_OF", "a"),
        ("a/b.py", "IMPORTS", "numpy"),
    }
    assert "/etc/passwd" not in {each.named.name for each in found.spoken}


def test_what_a_tool_printed_is_read_for_no_sentence() -> None:
    found, _ = of_event(
        command="cat notes.md", output="The auth service depends on Redis. Alice works on the core team."
    )
    assert not found
