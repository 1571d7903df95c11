"""What the extractive backend promises for any event: some text, the same text, soon, and nothing invented."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_kinds import ONE_OF_EACH, RENDERED, item_of

from siftd.summarise.contract import MAX_SUMMARY_CHARS, Item, Summary, TokenBudget
from siftd.summarise.extractive import Extractive, render, shell
from siftd.summarise.extractive.text import call_of
from siftd.summarise.grounding import Source, unsupported_claims

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
NAMES = """file_path command content stdout file todos questions answers results structuredPatch lines edits
old_string new_string pattern filenames plan task type statusChange x"""
KEYS = st.sampled_from(NAMES.split())
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=12
)
TOOLS = st.sampled_from(
    [
        *RENDERED,
        "UserPromptSubmit",
        "Stop",
        "SubagentStop",
        "AssistantText",
        "CompactSummary",
        "mcp__a__b",
        "mcp__",
        "Unheard",
        "",
    ]
)


def event(tool: str, given_input: Any, response: Any, **others: Any) -> Item:
    return item_of(
        event_id=1, tool=tool, payload={"tool_input": given_input, "tool_response": response}, outcome="ok", **others
    )


def failure(tool: str, given_input: Any, error: Any) -> Item:
    return item_of(event_id=1, tool=tool, payload={"tool_input": given_input, "error": error}, outcome="failed")


@pytest.mark.slow
@settings(max_examples=150)
@given(TOOLS, ANYTHING, ANYTHING, st.sampled_from(["ok", "failed", "interrupted", None]))
def test_any_shape_of_payload_gives_one_short_line_and_never_raises(
    tool: str, left: Any, right: Any, outcome: Any
) -> None:
    shapes = (
        {"tool_input": left, "tool_response": right},
        {"tool_input": left, "error": right},
        {"prompt": left, "last_assistant_message": right},
        {"text": left, "summary": right},
    )
    for payload in shapes:
        line = render(item_of(event_id=1, tool=tool, payload=payload, outcome=outcome, cwd="/w"))
        assert 0 < len(line.text) <= MAX_SUMMARY_CHARS
        assert "\n" not in line.text
        assert 0 < line.confidence <= 1


@pytest.mark.slow
@settings(max_examples=60)
@given(TOOLS, ANYTHING, ANYTHING)
def test_the_same_event_gives_the_same_text_whenever_and_wherever_it_stands(tool: str, left: Any, right: Any) -> None:
    item = event(tool, left, right)
    assert render(item) == render(msgspec.structs.replace(item, event_id=99, ts=5))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 200_000,
        "a" * 200_000,
        "word " * 40_000,
        "\n" * 200_000,
        "- x\n" * 50_000,
        "error: " * 30_000,
        "<" * 200_000,
        "[" * 100_000 + "]" * 100_000,
        "a." * 100_000,
        "1:" * 100_000,
        "def f" * 40_000,
        "cd a && " * 25_000,
        "<<EOF\n" * 30_000,
        "git" + " -c" * 50_000 + " x; git commit",
        "A=b " * 40_000 + "git commit",
    ],
    ids=lambda text: text[:5].strip() or "lines",
)
def test_a_huge_hostile_text_costs_no_more_than_its_ends(text: str) -> None:
    told = {
        "file_path": text,
        "command": text,
        "content": text,
        "old_string": text,
        "new_string": text + "x",
        "plan": text,
    }
    payload = {
        "tool_input": told,
        "tool_response": {"stdout": text, "file": {"content": text}, "content": text},
        "prompt": text,
        "last_assistant_message": text,
        "text": text,
        "summary": text,
    }
    for tool in (*ONE_OF_EACH, "UserPromptSubmit", "Stop", "AssistantText", "CompactSummary", "Unheard"):
        item = item_of(event_id=1, tool=tool, payload=payload, outcome="ok")
        # Bounded work is milliseconds even here; a pattern that backtracks over 200 KB takes minutes, each time.
        assert any(seconds(item) < 0.2 for _ in range(5)), tool


def seconds(item: Item) -> float:
    started = time.process_time()
    render(item)
    return time.process_time() - started


def test_deep_nesting_is_no_recursion() -> None:
    deep: Any = "end"
    for _ in range(5_000):
        deep = [deep]
    assert render(event("Unheard", {"a": deep}, deep)).text.startswith("Unheard")


def test_a_path_inside_the_working_directory_is_told_relative_to_it_and_no_other() -> None:
    inside = render(event("Read", {"file_path": "/w/app/a.py"}, "x = 1", cwd="/w/app")).text
    sibling = render(event("Read", {"file_path": "/w/app-old/a.py"}, "x = 1", cwd="/w/app")).text
    assert inside.startswith("Read a.py")
    assert sibling.startswith("Read /w/app-old/a.py")


def test_symbols_that_capture_stamped_name_the_place_of_an_edit() -> None:
    payload = {
        "tool_input": {"file_path": "/w/a.py", "old_string": "    return 1", "new_string": "    return 2"},
        "tool_response": {},
        "symbols": ["Cart", "total"],
    }
    line = render(item_of(event_id=1, tool="Edit", payload=payload, outcome="ok", cwd="/w"))
    assert line.text == "Edited a.py: Cart, total — return 1 → return 2"


def test_a_failure_hidden_by_a_pipe_is_still_told_as_one() -> None:
    line = render(event("Bash", {"command": "pytest -q | tail -1"}, {"stdout": "1 failed, 2 passed in 0.1s"}))
    assert line.text == "`pytest -q` reported failures: 1 failed, 2 passed"


def test_what_a_person_said_when_rejecting_an_edit_is_kept() -> None:
    error = (
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse sqlite"
    )
    line = render(failure("Write", {"file_path": "/w/db.py", "content": "x"}, error))
    assert line.text.endswith("They said: use sqlite")


def test_a_command_line_loses_its_plumbing_and_not_its_meaning() -> None:
    given_input = {"command": "cd /w && FOO=1 make -j2 check 2>&1 | tail -20 || true"}
    assert render(event("Bash", given_input, {"stdout": ""})).text == "`FOO=1 make -j2 check`: no output"


COMMITTED = "[main 5177de5] Teach the parser commas\n 2 files changed, 5 insertions(+)"


@pytest.mark.parametrize(
    "command",
    [
        "git commit -m 'Teach the parser commas'",
        "git add . && git commit -m \"$(cat <<'EOF'\nTeach the parser commas\n\nBody; body.\nEOF\n)\"",
        "cd /w/sub && GIT_EDITOR=true git -c commit.gpgsign=false commit --amend --no-edit",
        "make check; git -C /w commit -am x | tail -2",
        "git --no-pager -c user.name=x commit --amend -m commit",
    ],
)
def test_what_git_says_of_a_commit_is_told(command: str) -> None:
    line = render(event("Bash", {"command": command}, {"stdout": COMMITTED}, cwd="/w"))
    how = "Amended the last commit, now" if "--amend" in command else "Committed"
    assert line.text == f"{how} 5177de5 on main: Teach the parser commas (2 files changed, 5 insertions(+))"


def test_an_amended_commit_takes_the_place_of_the_one_before_in_a_story() -> None:
    ran = [
        event("Bash", {"command": command}, {"stdout": f"[main {number}177de5] {subject}\n 1 file changed"}, cwd="/w")
        for number, command, subject in (
            (1, "git commit -m x", "Teach the parser dots"),
            (2, "git commit -m x", "Teach the parser comas"),
            (3, "git commit --amend -m x", "Teach the parser commas"),
        )
    ]
    story = [shell.deed(call_of(each)) for each in ran]
    assert [(each.commit, each.amends) for each in story] == [
        ("Teach the parser dots", False), ("Teach the parser comas", False), ("Teach the parser commas", True),
    ]  # fmt: skip
    ended = msgspec.structs.replace(event("Stop", {}, {}), payload={"last_assistant_message": "Done."}, scope="turn")
    text = render(msgspec.structs.replace(ended, story=tuple(ran))).text
    assert "dots" in text
    assert "commas" in text
    assert "comas" not in text


@pytest.mark.parametrize(
    ("command", "stdout"),
    [
        ("git commit --amend --no-edit", ""),
        ("git commit --amend -q -m x", ""),
        ("cat .git/hooks/post-commit", COMMITTED),
        ("grep -rn 'git commit -m' scripts", COMMITTED),
        ("for c in a b; do git show $c --format=x; done; echo 'git commit'", COMMITTED),
        ("cat <<'E' > notes\ngit commit -m x\nE\ncat log", COMMITTED),
        ("cd /tmp && mkdir x && cd x && git init && git commit -m x", COMMITTED),
        ("git init scratch && cd scratch && git commit -m x", COMMITTED),
        ("D=$(mktemp -d); cd $D; git commit -m x", COMMITTED),
        ("git -C /elsewhere commit -m x", COMMITTED),
        ("git --git-dir /elsewhere/.git commit -m x", COMMITTED),
        ("git --work-tree=/elsewhere commit -m x", COMMITTED),
        ("git -c", COMMITTED + "commit"),
        ("cd ~/other && git commit -m x", COMMITTED),
    ],
)
def test_what_is_no_commit_of_this_repository_is_not_told_as_one(command: str, stdout: str) -> None:
    assert "ommitted" not in render(event("Bash", {"command": command}, {"stdout": stdout}, cwd="/w")).text


def test_packages_without_a_test_to_run_are_not_well() -> None:
    output = "ok  \texample.com/a\t0.3s [no tests to run]\n"
    assert render(event("Bash", {"command": "go test -run X ./..."}, {"stdout": output})).text.endswith(
        ": no tests to run"
    )
    both = f"{output}ok  \texample.com/b\t0.3s\n"
    assert render(event("Bash", {"command": "go test ./..."}, {"stdout": both})).text.endswith(": ok: example.com/b")


def test_a_call_that_was_cancelled_with_another_says_that_it_did_not_run() -> None:
    line = render(failure("Bash", {"command": "ls"}, "Sibling tool call errored"))
    assert (line.text, line.confidence) == ("Bash of ls: not run, since a call beside it failed", 0.3)


def said(text: str) -> Any:
    return render(item_of(event_id=1, tool="AssistantText", payload={"text": text}, outcome=None))


def test_what_an_agent_says_is_told_without_its_announcements() -> None:
    text = "I see. The queue drops messages because the broker is restarted.\n\nLet me look at the settings."
    assert said(text).text == "I see. The queue drops messages because the broker is restarted."
    assert said(text).confidence > said("Let me look at the settings.").confidence


def test_a_table_is_read() -> None:
    text = "Which limits hold:\n\n| limit | why |\n|:--|--:|\n| 10 a second | the gateway bans clients at 11 |\n"
    assert "10 a second — the gateway bans clients at 11" in said(text).text


def test_reasons_stand_before_what_was_done() -> None:
    deeds = "".join(f"Changed file{number}.py and updated the tests of module number {number}. " for number in range(9))
    reason = "We keep LIMIT at 10 so that the gateway does not ban us."
    closing = item_of(event_id=1, tool="Stop", payload={"last_assistant_message": f"{deeds}{reason}"}, outcome=None)
    assert reason in render(closing).text


def test_an_account_tells_what_was_wanted_and_what_is_open() -> None:
    text = (
        "This session is being continued from a previous conversation.\nAnalysis:\n1. Something:\n   else\n\nSummary:\n"
        "1. Primary Request and Intent:\n   Rotate the keys of the gateway.\n\n"
        "2. Key Technical Concepts:\n   - JWKS\n\n"
        "7. Pending Tasks:\n   - Tell the mobile team.\n\n8. Current Work:\n   Writing the runbook.\n"
    )
    line = render(item_of(event_id=1, tool="CompactSummary", payload={"summary": text}, outcome=None))
    assert line.text == (
        "Account of a session: Rotate the keys of the gateway.; then: Writing the runbook.; open: Tell the mobile team."
    )


def test_terminal_colours_and_control_characters_are_not_part_of_a_summary() -> None:
    line = render(event("Bash", {"command": "ls"}, {"stdout": "\x1b[31mred\x1b[0m\x00\x07 end"}))
    assert line.text == "`ls`: red end"


def test_lsp_answers_name_the_place_asked_about() -> None:
    given_input = {"operation": "findReferences", "filePath": "/w/a.go", "line": 64}
    line = render(event("LSP", given_input, {"result": "Found 2 references:\nb.go:\n  Line 6:1"}, cwd="/w"))
    assert line.text.startswith("LSP findReferences on a.go:64: Found 2 references")


def test_long_code_with_dunder_names_is_quoted_as_it_is() -> None:
    words = "Moved the check to `src/__tests__/login.test.ts` because __init__ ran twice."
    item = item_of(event_id=1, tool="Stop", payload={"last_assistant_message": words})
    assert render(item).text == words
    assert unsupported_claims(render(item).text, Source.of(item)) == []


async def test_the_backend_gives_one_summary_per_item_in_order_and_costs_no_tokens() -> None:
    batch = [event("Read", {"file_path": f"{name}.py"}, "x = 1") for name in "abc"]
    verdicts = await Extractive().summarise(batch, TokenBudget())
    assert [type(verdict) for verdict in verdicts] == [Summary] * 3
    texts = [verdict.text for verdict in verdicts if isinstance(verdict, Summary)]
    assert [text.split()[1] for text in texts] == ["a.py", "b.py", "c.py"]
    assert all(v.tokens_in == v.tokens_out == 0 for v in verdicts if isinstance(v, Summary))


def test_the_prompt_hash_changes_with_what_decides_the_text_and_with_nothing_else() -> None:
    backend, item = Extractive(), event("Read", {}, "x", cwd="/w", input_hash="h")
    same = msgspec.structs.replace(item, event_id=7, ts=9, request="why?")
    assert backend.prompt_hash(same) == backend.prompt_hash(item)
    for other in ({"tool": "Write"}, {"outcome": "failed"}, {"cwd": "/x"}):
        assert backend.prompt_hash(msgspec.structs.replace(item, **other)) != backend.prompt_hash(item)
    stop = item_of(event_id=1, tool="Stop", payload={}, request="a")
    assert backend.prompt_hash(stop) != backend.prompt_hash(msgspec.structs.replace(stop, request="b"))
