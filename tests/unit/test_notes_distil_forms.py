"""Captured text as lines of Markdown, dropped notes in a body, our lines in a body that people edit, what is kept."""

from __future__ import annotations

import re

import pytest

from siftd.errors import SiftdError
from siftd.notes.distil import commits, distil, inbox
from siftd.notes.distil.asking import deferred_in, goal_of, report_in
from siftd.notes.distil.bodies import Body
from siftd.notes.distil.forms import code, plain, quoted, sentence
from siftd.notes.distil.material import Commit, Material, Session
from siftd.notes.distil.written import Line, Written, decode

MAKES_SOMETHING = [
    "# heading",
    "- # heading in a list",
    "> quotation",
    "---",
    "1. one",
    "- [ ] a box",
    "```python",
    "~~~",
    "| a | b |",
    "![picture](https://example.org/p.png)",
    "see [here](https://example.org)",
    "[ref]: https://example.org",
    "<!-- comment",
    "<img src=x>",
    "=== \u202e right to left",
    "an `open code",
]


@pytest.mark.parametrize("text", MAKES_SOMETHING)
def test_captured_text_is_one_line_of_prose_whatever_it_holds(text: str) -> None:
    line = plain(f"{text}\n{text}")
    assert "\n" not in line
    assert not re.match(r"\s*(?:#|>|[-+*] |\d+[.)] |```|~~~|\||\[|=|<)", line)
    for sign in ("](", "![", "<!--", "<img", "```", "]:"):
        assert sign not in line
    assert line.count("`") % 2 == 0
    assert line.isprintable()


@pytest.mark.parametrize("text", MAKES_SOMETHING)
def test_what_was_made_harmless_stays_as_it_is(text: str) -> None:
    line = plain(text)
    assert plain(line).lstrip("\\") == line.lstrip("\\")


def test_a_long_text_is_cut_between_words() -> None:
    assert plain("a word " * 100, 50).endswith("word…")


def test_a_sentence_ends_with_one_mark() -> None:
    assert sentence("We use pnpm") == "We use pnpm."
    assert sentence("Do we?") == "Do we?"


def test_nothing_closes_a_quotation_from_within() -> None:
    assert quoted("so “it” is", 50) == "“so 'it' is”"


def test_a_command_is_shown_without_what_it_quotes() -> None:
    assert "secret words" not in code('git commit -m "secret words of somebody"')
    assert code("mise run test:ci") == "`mise run test:ci`"


def test_lines_stand_below_their_heading_in_their_order_and_headings_too() -> None:
    body = Body("state", "")
    body.lay("Open failures", ["- f"], [])
    body.lay("Now", ["- a", "- b"], [])
    assert body.text == "# State\n\n## Now\n\n- a\n- b\n\n## Open failures\n\n- f\n"


def test_a_body_of_which_nothing_changes_keeps_its_bytes() -> None:
    text = "# Mine\n\n\n## Now\n- mine \n\n\n"
    body = Body("state", text)
    body.lay("Now", [], [])
    assert body.text == text


def test_only_our_lines_of_a_section_are_exchanged() -> None:
    body = Body("state", "## Now\n\nSince May:\n\n- ours\n- mine\n\n## Other\n\n- ours too\n")
    body.lay("Now", ["- new"], ["- ours"])
    assert body.text == "## Now\n\nSince May:\n\n- new\n- mine\n\n## Other\n\n- ours too\n"


def test_a_line_that_a_person_moved_is_not_written_again() -> None:
    body = Body("decisions", "## Decisions\n\n- a\n\n## Kept by me\n\n- b\n")
    body.lay("Decisions", ["- a", "- b"], ["- a", "- b"])
    assert body.text.count("- b") == 1


def test_what_stands_in_a_fence_is_no_heading_and_no_line_of_ours() -> None:
    text = "````text\n## Now\n```\n- ours\n````\n"
    body = Body("state", text)
    body.lay("Now", ["- ours"], ["- ours"])
    body.take_out(["- gone"])
    assert body.text.startswith(text.rstrip("\n"))
    assert body.text.count("- ours") == 2


def test_a_heading_below_which_nothing_is_left_goes() -> None:
    body = Body("state", "# State\n\n## Now\n\n- a\n\n## Commands\n\n- b\n")
    body.lay("Now", [], ["- a"])
    body.drop_if_empty("Now")
    assert body.text == "# State\n\n## Commands\n\n- b\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("- [ ] renew the certificate", "todo"),
        ("TODO renew the certificate", "todo"),
        ("We decided to stay with make", "decisions"),
        ("Decision: stay with make", "decisions"),
        ("Lesson: never start two at once", "mistakes"),
        ("The root cause was a stale lock", "mistakes"),
        ("The staging host is down", "state"),
        ("method and to-do-list are words", "state"),
    ],
)
def test_a_dropped_note_goes_where_it_belongs(text: str, name: str) -> None:
    assert inbox.note_of(text) == name


@pytest.mark.parametrize("text", ["one line", "- [ ] a box", "two\nlines of prose", "a\n\n- list\n- of two"])
def test_a_plain_note_stands_as_it_is(text: str) -> None:
    assert inbox.as_text(text) in (text, f"- {text}")


@pytest.mark.parametrize(
    "text",
    [
        "# heading",
        "a\n---\nb",
        "```\nopen",
        "x <!-- y",
        "see [a](b)",
        "````\nlong",
        "    code",
        "- ## in a list",
        "a\n-",
    ],
)
def test_a_note_that_makes_something_stands_in_a_fence_that_it_does_not_close(text: str) -> None:
    shown = inbox.as_text(text)
    fence = shown.partition("text\n")[0]
    assert shown == f"{fence}text\n{text}\n{fence}"
    assert set(fence) == {"`"}
    assert fence not in text


def test_what_was_written_is_read_back_as_it_was() -> None:
    written = Written(
        {"fact:1": Line("fact:1", "decisions", "ours", "- a", "Decisions"), "x": Line("x", "todo", "gone")}
    )
    assert decode(written.encode()) == written
    assert written.facts == [1]


def test_a_file_of_a_newer_siftd_is_refused_by_name() -> None:
    with pytest.raises(SiftdError, match="newer siftd"):
        decode(b'{"version": 2, "lines": "of another form"}')


def test_a_file_that_is_none_of_ours_is_refused() -> None:
    with pytest.raises(SiftdError):
        decode(b'{"version": 1, "lines": [{"key": 1}]}')


def test_fields_and_states_of_a_later_siftd_are_read_past() -> None:
    data = b'{"version": 1, "more": 1, "lines": [{"key": "fact:1", "note": "todo", "state": "framed", "line": "- a"}]}'
    line = decode(data).find("fact:1")
    assert line is not None
    assert line.state == "theirs"


def test_what_is_done_with_is_forgotten_first() -> None:
    ours = {"fact:1": Line("fact:1", "decisions", "ours", "- a")}
    many = {f"fix:e{number}": Line(f"fix:e{number}", "mistakes", "passed") for number in range(6_000)}
    written = Written(ours).with_lines(many)
    assert written.find("fact:1") is not None
    assert written.find("fix:e0") is None
    assert written.find("fix:e5999") is not None


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ('git commit -m "Reject old tokens"', "Reject old tokens"),
        ("git add -A && git commit -am 'Reject old tokens' -m 'Because.'", "Reject old tokens\n\nBecause."),
        ("git commit -m \"$(cat <<'EOF'\nReject old tokens\n\nBecause.\nEOF\n)\"", "Reject old tokens\n\nBecause."),
        ("git commit --amend --no-edit", ""),
    ],
)
def test_the_message_of_a_commit_is_read_from_its_command(command: str, message: str) -> None:
    assert commits.message_of(command) == message


def test_a_message_is_sentences_and_entries_without_trailers() -> None:
    prose = "The first sentence of it is here. Another one\ngoes on here."
    message = f"Subject\n\n{prose}\n\n- one\n  of two lines\n- two\n\nCo-Authored-By: X"
    assert commits.prose_in(message) == (
        ("The first sentence of it is here.", "Another one goes on here."),
        ("one of two lines", "two"),
    )


@pytest.mark.parametrize("subject", ["fix: lost chunks", "Fix the lost chunks", "fix(upload)!: lost chunks"])
def test_a_commit_that_mends_behaviour_is_known(subject: str) -> None:
    assert commits.mends(subject)


@pytest.mark.parametrize(
    "subject", ["fix: typo", "Fix lint", "feat: fixed width columns", "fix: address review", "Add x"]
)
def test_a_commit_that_only_tidies_mends_nothing(subject: str) -> None:
    assert not commits.mends(subject)


def test_what_says_by_itself_what_is_wanted_goes_before_what_points_back() -> None:
    assert goal_of(["yes, do that", "ok, let's add a retry to the upload client"]) == "Add a retry to the upload client"
    assert goal_of(["can you fix it please and then commit this?"]) == ""
    assert goal_of(["Implement the following plan:\n\n# Plan: One log file per worktree\n\n## Context"]) == (
        "One log file per worktree"
    )
    assert (
        goal_of(["<command-name>/clear</command-name>", "/compact", "You are a senior engineer of many years."]) == ""
    )


def test_what_is_reported_as_wrong_is_found_and_a_request_is_not() -> None:
    assert report_in("The upload somehow loses its last chunk. Why?") == "The upload somehow loses its last chunk."
    assert report_in("Add a button to the page of settings") == ""


def test_what_is_left_for_later_is_kept_where_it_says_what_it_is() -> None:
    said = "we have a problem with the file list in metadata.json, but let's leave that for later"
    assert list(deferred_in(said)) == [said[0].upper() + said[1:]]
    assert list(deferred_in("let's leave this for later")) == []
    assert list(deferred_in("can you create an issue for later about the file list in metadata.json?")) == []


def test_the_files_stay_far_below_their_budgets_however_much_there_is() -> None:
    sessions = tuple(
        Session(
            id=f"s{number}",
            cited=f"s{number}",
            ended_ts=number,
            branch="main",
            asked=f"Change the part number {number} of the parser in parser_{number}.py",
            commits=(
                Commit(
                    number,
                    number,
                    f"fix: part {number}",
                    (f"Part {number} was lost because x{number} is not y.",),
                    (),
                    (),
                ),
                Commit(
                    number, number, f"Add {number}", (f"Number {number} is kept instead of {number + 1} here.",), (), ()
                ),
            ),
        )
        for number in range(150)
    )
    edits, _ = distil(Material(sessions=sessions), {}, (), Written(), 0)
    assert len(edits.state_body or "") < 5_000
    assert len(edits.decisions_body or "") < 6_000
    assert sum(map(len, edits.mistakes_new_entries)) < 11_000
    assert edits.mistakes_new_entries
