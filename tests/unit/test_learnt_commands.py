"""What a command line does for a project, how it is seen to have ended, and which command a topic then has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siftd.facts.command_kinds import Does, does
from siftd.facts.command_lines import below, parts_of
from siftd.facts.learnt_commands import Ended, Ran, Result, candidate_of, choose, folder_after, runs_of, statement

OK = Ended("ok", "", "")
DAY = 86_400_000


def topics(line: str, folder: str = "") -> list[str]:
    return [found.topic for part in parts_of(line) if (found := does(part, folder))]


@pytest.mark.parametrize(
    ("line", "topic"),
    [
        ("pytest -q", "command:test"),
        ("python3 -m pytest -q -n 2", "command:test"),
        ("uv run pytest", "command:test"),
        ("npm run test:integration", "command:test.integration"),
        ("npm test", "command:test"),
        ("cargo test --features fuse 2>&1 | tail -20", "command:test"),
        ("go build ./...", "command:build"),
        ("make", "command:build"),
        ("mise run fmt", "command:format"),
        ("golangci-lint run ./...", "command:lint"),
        ("npx tsc --noEmit", "command:types"),
        ("npm run typecheck", "command:types"),
        ("npm run check", "command:check"),
        ("pnpm api:generate", "command:generate"),
        ("pnpm --filter @acme/core test", "command:test:core"),
        ("pnpm --filter web exec tsc --noEmit", "command:types:web"),
        ("npx tsc --noEmit --project tests/e2e/tsconfig.json", "command:types:tests/e2e"),
        ("pnpm --filter web dev", "command:run:web"),
        ("docker compose up -d", "command:run"),
        ("./scripts/test", "command:test"),
    ],
)
def test_a_command_is_known_by_what_it_does(line: str, topic: str) -> None:
    assert topics(line) == [topic]


@pytest.mark.parametrize(
    "line",
    [
        "pytest tests/unit/test_a.py",
        "pytest -k login",
        "go test ./cmd/x/...",
        "go test -run TestLogin ./...",
        "cargo test login",
        "npx jest --testPathPattern=shares",
        "npm test -- --grep login",
        "npx eslint src/a.ts",
        "TOKEN=abc npm test",
        "npm test > out.txt",
        "npm run $TASK",
        "echo npm test",
        "cat package.json",
        "git commit -m 'npm test'",
        "bash -c 'npm test'",
        "for f in a b; do npm test; done",
        "npm test [REDACTED:token:ab12]",
        "npm test \u202e",
        "`npm test`",
        "/home/someone/bin/test",
        "",
    ],
)
def test_what_does_it_for_a_piece_or_is_not_understood_is_nothing(line: str) -> None:
    assert topics(line) == []


def results(line: str, ended: Ended = OK) -> list[Result]:
    return [result for _, result in runs_of(line, ended)]


def test_a_success_is_one_that_is_seen() -> None:
    assert results("npm run lint && npm test 2>&1") == ["ok", "ok"]
    assert results("npm test; echo done") == []
    assert results("npm test || true") == []
    assert results("npm test | my-reporter") == []
    assert results("npm test", Ended("interrupted", "", "")) == []
    assert results("npm test", Ended("ok", "", "", in_background=True)) == []
    assert results("npm run dev", Ended("ok", "", "", in_background=True)) == ["ok"]


def test_behind_a_filter_the_output_tells() -> None:
    assert results("pytest | tail -3", Ended("ok", "good", "3 passed")) == ["ok"]
    assert results("pytest | tail -3", Ended("ok", "bad", "1 failed")) == ["failed"]
    assert results("pytest | tail -3", Ended("ok", "", "something")) == []
    assert results("npm run build | tail -3", Ended("ok", "", "> vite build")) == ["ok"], "npm says last that it failed"
    assert results("npm run build | head -3", Ended("ok", "", "> vite build")) == []
    assert results("npx tsc --noEmit | head -3", Ended("ok", "", "")) == ["ok"], (
        "silence is how it says that all is well"
    )
    assert results("npm run build | grep x", Ended("ok", "", "")) == []


def test_one_that_cannot_be_run_is_told_from_one_that_finds_faults() -> None:
    assert results("npm run test", Ended("failed", "", 'npm error Missing script: "test"')) == ["broken"]
    assert results("npm run test", Ended("failed", "bad", "2 failed, 3 passed")) == ["failed"]
    long = "\n".join(["line"] * 40 + ["sh: x: command not found"])
    assert results("npm run test", Ended("failed", "", long)) == ["failed"], "a test that prints it did run"
    assert results("npm run lint && npm run test", Ended("failed", "", "x")) == [], "which of them failed is not seen"


def ran(event: int, command: str, result: Result = "ok", session: str | None = None, day: int = 0) -> Ran:
    found = Does("test", "", "", command)
    return Ran(event, session or f"s{event}", day * DAY + event, found, result)


def chosen(*runs: Ran) -> str | None:
    choice = choose(runs)
    return choice.does.command if choice else None


def test_the_command_that_succeeded_in_most_sessions_is_the_one() -> None:
    assert chosen(ran(1, "a"), ran(2, "b"), ran(3, "a")) == "a"
    assert chosen(ran(1, "a", session="x"), ran(2, "a", session="x"), ran(3, "b"), ran(4, "b")) == "b"
    assert chosen(ran(1, "a"), ran(2, "a"), ran(3, "a"), ran(4, "b", day=120), ran(5, "b", day=120)) == "b"
    assert chosen(ran(1, "a", "failed")) is None
    assert chosen() is None


def test_one_that_begins_to_fail_gives_its_place_to_another() -> None:
    good = [ran(1, "a"), ran(2, "a"), ran(3, "a")]
    assert chosen(*good, ran(4, "a", "broken")) is None
    assert chosen(*good, ran(4, "a", "broken"), ran(5, "b")) == "b"
    assert chosen(*good, ran(4, "a", "broken"), ran(5, "a")) == "a", "it works again"
    red = [ran(4, "a", "failed"), ran(5, "a", "failed")]
    assert chosen(*good, *red) == "a", "tests fail every day"
    assert chosen(*good, *red, ran(6, "b")) == "b"
    assert chosen(ran(0, "b"), *good, *red) == "a", "the other one is older still"


def test_the_fact_cites_the_runs_that_it_stands_on() -> None:
    choice = choose([ran(1, "a"), ran(2, "a", "failed"), ran(3, "a")])
    assert choice is not None
    fact = candidate_of(choice)
    assert (fact.sources, fact.topic, fact.category, fact.said_by) == ((3, 1), "command:test", "workflow", "agent")
    assert fact.text == "Tests here: `a`"
    assert (
        statement(Does("test", "e2e", "apps/web", "npm run test:e2e")) == "Tests (e2e) in apps/web: `npm run test:e2e`"
    )


def test_folders_are_seen_from_the_root() -> None:
    assert below("/r/apps/api", "", "/r") == "apps/api"
    assert below("../web", "apps/api", "/r") == "apps/web"
    assert below("/r", "apps/api", "/r") == ""
    assert below("/elsewhere", "", "/r") is None
    assert below("../..", "apps", "/r") is None
    assert below("~", "", "/r") is None
    assert folder_after("cd /r/apps/api && npx jest", "", "/r") == "apps/api"
    assert folder_after("npx jest", "apps/api", "/r") == "apps/api"
    assert folder_after("cd ..", "apps/api", "/r") == "apps"
    (found,) = runs_of("cd /r/apps/api && npx jest", OK, "", "/r")
    assert found[0].topic == "command:test:apps/api"
    assert runs_of("cd /elsewhere && npx jest", OK, "", "/r") == []


@given(st.text(alphabet="npm testrun&|;>'\"\\$`()#\n =-./", max_size=300))
def test_any_line_is_read_to_an_end(line: str) -> None:
    for part in parts_of(line):
        assert part.words
        found = does(part)
        assert found is None or found.command == " ".join(part.words)
