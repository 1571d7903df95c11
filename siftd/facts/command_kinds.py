"""What a command does for a project: builds, tests, lints, formats, checks types, runs it; and of which part of it.

Known by the words that are typed, as in a table of well-known programs and of the names that scripts usually have. A
command that does it for one file, one test or one pattern does not do it for the project, and is of no kind.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, get_args

from siftd.facts.command_lines import Part

Kind = Literal["test", "build", "lint", "format", "types", "check", "generate", "run"]
KINDS: tuple[Kind, ...] = get_args(Kind)
COMMAND_CHARS_MAX = 110
_WHERE_CHARS_MAX = 80

_NAMES: dict[str, Kind] = {
    "test": "test", "tests": "test", "spec": "test", "specs": "test", "e2e": "test", "unittest": "test",
    "build": "build", "compile": "build", "assemble": "build",
    "lint": "lint", "linter": "lint", "eslint": "lint", "knip": "lint",
    "format": "format", "fmt": "format", "prettier": "format",
    "typecheck": "types", "types": "types", "tsc": "types", "mypy": "types",
    "check": "check", "verify": "check", "ci": "check", "precommit": "check",
    "generate": "generate", "gen": "generate", "codegen": "generate",
    "dev": "run", "start": "run", "serve": "run", "server": "run",
}  # fmt: skip
"""By a script's name, or the first or last part of it: "test:integration", "api:generate"."""
_PROGRAMS: dict[str, Kind] = {
    **dict.fromkeys(
        "pytest py.test jest vitest mocha ava rspec phpunit ctest nosetests bats ginkgo tox".split(), "test"
    ),
    **dict.fromkeys(
        "eslint flake8 pylint rubocop shellcheck markdownlint stylelint oxlint ktlint knip".split(), "lint"
    ),
    **dict.fromkeys("prettier black gofmt gofumpt goimports isort rustfmt shfmt".split(), "format"),
    **dict.fromkeys("mypy pyright basedpyright vue-tsc svelte-check".split(), "types"),
    **dict.fromkeys("webpack rollup ninja".split(), "build"),
    **dict.fromkeys("uvicorn gunicorn".split(), "run"),
    "pre-commit": "check",
    "tsc": "types",
}
_VERBS: tuple[tuple[Kind, str], ...] = (
    (
        "test",
        "go test, cargo test, cargo nextest, dotnet test, mix test, swift test, deno test, bun test, flutter test",
    ),
    (
        "test",
        "mvn test, mvn verify, sbt test, stack test, cabal test, rails test, playwright test, cypress run, zig test",
    ),
    ("build", "go build, cargo build, dotnet build, swift build, docker build, docker-compose build, vite build"),
    ("build", "next build, nest build, mvn package, mvn compile, mvn install, mix compile, hatch build, uv build"),
    ("build", "poetry build, flutter build, cmake --build, zig build"),
    ("lint", "ruff check, golangci-lint run, cargo clippy, go vet, biome lint, deno lint"),
    ("format", "ruff format, go fmt, cargo fmt, biome format, mix format, dotnet format, deno fmt"),
    ("types", "cargo check, deno check, ty check"),
    ("check", "biome check, pre-commit run"),
    ("generate", "go generate, buf generate, prisma generate"),
    ("run", "go run, cargo run, flask run, next dev, vite dev, rails server, dotnet run, mix phx.server"),
    ("run", "docker-compose up"),
)
_BY_VERB: dict[tuple[str, ...], Kind] = {tuple(each.split()): kind for kind, row in _VERBS for each in row.split(", ")}
_RUNS_SCRIPTS = frozenset(
    "npm pnpm yarn bun mise make gmake just task rake gradle gradlew composer nx turbo pdm".split()
)
_RUN_WORDS = frozenset(("run", "run-script", "r", "exec", "x"))
_PASSES_ON = frozenset(("npx", "bunx", "pnpx", "time", "env", "command"))
_PASSES_ON_TWO = frozenset(
    (("bundle", "exec"), ("poetry", "run"), ("uv", "run"), ("pipenv", "run"), ("rye", "run"), ("hatch", "run"),
     ("pnpm", "exec"), ("pnpm", "dlx"), ("yarn", "dlx"), ("npm", "exec"), ("deno", "task"), ("uvx", "--"))
)  # fmt: skip
_SHELLS = frozenset(("bash", "sh", "zsh"))
_WHERE_OPTIONS = frozenset(
    (
        "--filter",
        "-F",
        "-C",
        "--dir",
        "--cwd",
        "--prefix",
        "--workspace",
        "-w",
        "--package",
        "--project",
        "--manifest-path",
    )
)
"""Options of which part of a project a command is; the value is the next word, or behind "="."""
_NARROWS = frozenset(
    "-run -k -t -g -m --grep --testPathPattern --testPathPatterns --testNamePattern --test --bench --bin --example"
    " --only --name --match --tests-by-path --findRelatedTests --lf --last-failed -x --changed --since --listTests"
    " --collect-only --help --version --dry-run --list".split()
)
_HARMLESS = re.compile(r"[\w./:=@+,~%*-]{1,100}")
_PYTHON = re.compile(r"python[\d.]{0,5}")
_SEPARATOR = re.compile(r"[:._-]")
_FILE = re.compile(r"[\w./@+~-]{0,80}\.[A-Za-z]\w{0,5}(?:[:,].{0,40})?")
_NAME = re.compile(r"[\w-]{1,40}")
"""What may be an option's value: neither a file nor a folder."""
_WHOLE = frozenset((".", "./...", "..", "all", "--all", "./", "src", "tests", "test"))


class Does(NamedTuple):
    """What a command does, and of what."""

    kind: Kind
    variant: str
    """Of what kind of tests and the like: "integration"; "" for the plain one."""
    where: str
    """The part of the project: a package's name, or a folder below the root; "" for all of it."""
    command: str
    """The command itself, without the way to its folder and what cuts its output."""

    @property
    def topic(self) -> str:
        """What a newer command replaces it by: "command:test.integration:packages/x"."""
        name = f"{self.kind}.{self.variant}" if self.variant else self.kind
        return f"command:{name}:{self.where}" if self.where else f"command:{name}"


def does(part: Part, folder: str = "") -> Does | None:
    """Return what a command does for the project; None where it does nothing known, or that for a piece of it only.

    `folder` is where it runs, below the project's root.
    """
    words = list(part.words)
    if part.has_quotes or part.sets_variables or not all(_HARMLESS.fullmatch(each) for each in words):
        return None
    command = " ".join(words)
    if len(command) > COMMAND_CHARS_MAX or "REDACTED" in command:
        return None
    rest, where = _take_where(words)
    found = _kind_of(rest)
    if found is None:
        return None
    kind, variant, arguments = found
    if _is_narrow(arguments):
        return None
    where = (where or folder)[:_WHERE_CHARS_MAX]
    return Does(kind, variant, where, command)


def _take_where(words: list[str]) -> tuple[list[str], str]:
    """Return the words without the option that names a part of the project, and that part."""
    rest: list[str] = []
    where = ""
    at = 0
    while at < len(words):
        option, equals, value = words[at].partition("=")
        if option in _WHERE_OPTIONS and not (option in ("-w", "-F") and words[0] not in ("npm", "pnpm")):
            if not equals:
                at += 1
                value = words[at] if at < len(words) else ""
            where = where or _part_named(value, is_file=option in ("--project", "--manifest-path"))
        elif words[at] == "workspace" and words[:1] == ["yarn"] and at + 1 < len(words):
            at += 1
            where = _part_named(words[at], is_file=False)
        elif option == "-p" and words[0] in ("cargo", "tsc", "npx") and at + 1 < len(words):
            at += 1
            where = _part_named(words[at], is_file=words[0] != "cargo")
        else:
            rest.append(words[at])
        at += 1
    return rest, where


def _part_named(value: str, *, is_file: bool) -> str:
    """Return "core" of "@acme/core", "apps/web" of "./apps/web/" and of "apps/web/tsconfig.json"."""
    if is_file and _FILE.fullmatch(value):
        value = value.rpartition("/")[0]
    if value.startswith("@"):
        value = value.partition("/")[2]
    return value.strip("./")


def _kind_of(words: list[str]) -> tuple[Kind, str, list[str]] | None:
    """Return (kind, variant, the arguments) of a command's words."""
    while words:
        program = words[0].rpartition("/")[2] if words[0].count("/") else words[0]
        if program in _PASSES_ON:
            words = _without_options(words[1:])
        elif tuple(words[:2]) in _PASSES_ON_TWO:
            words = _without_options(words[2:])
        elif words[1:2] == ["-m"] and _PYTHON.fullmatch(program):
            words = words[2:]
        elif program == "docker" and words[1:2] == ["compose"]:
            words = ["docker-compose", *words[2:]]
        elif program in _SHELLS and len(words) > 1 and "/" in words[1]:
            words = words[1:]
        else:
            break
    if not words:
        return None
    if kind := _BY_VERB.get((program, words[1] if len(words) > 1 else "")):
        return kind, "", words[2:]
    if program in _PROGRAMS:
        return _PROGRAMS[program], "", words[1:]
    if program in _RUNS_SCRIPTS:
        return _of_script(program, words[1:])
    if words[0].count("/") and not words[0].startswith(("/", "~")):  # a script of the project's own: ./scripts/test
        return _named(program.partition(".")[0], words[1:])
    return None


def _of_script(program: str, words: list[str]) -> tuple[Kind, str, list[str]] | None:
    words = _without_options(words)
    if words and words[0] in _RUN_WORDS:
        if program == "pnpm" and words[0] == "exec":
            return _kind_of(words[1:])
        words = _without_options(words[1:])
    if not words:
        return ("build", "", []) if program in ("make", "gmake") else None
    if _PROGRAMS.get(words[0]) and words[0] != "tsc" and program in ("pnpm", "yarn", "bun"):
        return _PROGRAMS[words[0]], "", words[1:]
    if kind := _BY_VERB.get((words[0], words[1] if len(words) > 1 else "")):
        return kind, "", words[2:]
    return _named(words[0], words[1:])


def _named(script: str, arguments: list[str]) -> tuple[Kind, str, list[str]] | None:
    """Return what a script does by its name: "test:integration" tests, "api:generate" generates."""
    name = script.lower().replace("type-check", "typecheck").replace("pre-commit", "precommit")
    tokens = [each for each in _SEPARATOR.split(name[:_WHERE_CHARS_MAX]) if each]
    if not tokens or len(tokens) > 4:
        return None
    if tokens[0] in _NAMES:
        return _NAMES[tokens[0]], ".".join(tokens[1:]), arguments
    if tokens[-1] in _NAMES and len(tokens) == 2:
        kind = _NAMES[tokens[-1]]
        return kind, "" if kind == "generate" else tokens[0], arguments
    return None


def _without_options(words: list[str]) -> list[str]:
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        at += 1
    return words[at:]


def _is_narrow(arguments: list[str]) -> bool:
    """Whether a command does it for a piece of the project only: a file, a test, a pattern, a folder."""
    before = ""
    for each in arguments:
        option = each.partition("=")[0]
        if option in _NARROWS or "::" in each or each == "--":
            return True
        is_value = before.startswith("-") and (len(before) > 2 or each.isdigit()) and "=" not in before
        before = each
        if each.startswith("-") or each in _WHOLE or (is_value and _NAME.fullmatch(each)):
            continue
        return True
    return False
