"""What is taken from a turn's words as a fact: what people and agents state that holds, and nothing else."""

from __future__ import annotations

import pytest
from fact_labels import HALVES, counted_of, labelled

from siftd.facts.extraction import FACTS_A_TURN_MAX, extract
from siftd.facts.model import TEXT_CHARS_MAX, Candidate, Said, Turn
from siftd.model import Kind, SaidBy


def taken(text: str, said_by: SaidBy = "person", kind: Kind = "prompt") -> list[Candidate]:
    return extract(Turn("s", "claude-code", (Said(5, 1_000, kind, said_by, text),)))


def texts(text: str, said_by: SaidBy = "person", kind: Kind = "prompt") -> list[str]:
    return [candidate.text for candidate in taken(text, said_by, kind)]


@pytest.mark.parametrize("half", HALVES)
def test_of_labelled_turns_nine_in_ten_that_are_taken_are_right_and_most_are_found(half: str) -> None:
    counted = counted_of(labelled("turns", half), extract)
    assert counted.precision >= 0.90, counted.wrong_texts
    assert counted.recall >= 0.60


@pytest.mark.parametrize(
    ("said", "fact", "category"),
    [
        ("no, use pnpm", "Use pnpm.", "preference"),
        ("I prefer small pull requests, so split this one please.", "The person prefers small pull requests.", None),
        ("ok, from now on run the linter before every commit", "Run the linter before every commit.", "convention"),
        ("We use Postgres for events, not Redis. can you check?", "We use Postgres for events, not Redis.", None),
        ("Never push to main directly!", "Never push to main directly.", "convention"),
        ("my github user is octo", "The person's github user is octo.", "context"),
        ("Wir verwenden hier uv und nicht pip.", "Wir verwenden hier uv und nicht pip.", "architecture"),
        ("A hook has to answer within 250 ms.", "A hook has to answer within 250 ms.", "metric"),
        ("let's use vitest instead of jest here", "We decided to use vitest instead of jest here.", "decision"),
        ("let's not leave _all_ tests to the very end", "We decided not to leave all tests to the very end.", None),
        (
            "given the audience, I think its better not to store any email in local storage",
            "Given the audience, it's better not to store any email in local storage.",
            None,
        ),
    ],
)
def test_what_a_person_states_becomes_a_statement_in_the_third_person(
    said: str, fact: str, category: str | None
) -> None:
    (candidate,) = taken(said)
    assert candidate.text == fact
    assert category is None or candidate.category == category


def test_the_evidence_is_the_exact_words_and_the_event_that_said_them() -> None:
    text = "thanks! We decided to drop Python 3.8 because the type hints are too old. Now fix the test."
    (candidate,) = taken(text)
    assert candidate.quote in text
    assert candidate.sources == (5,)
    assert candidate.valid_from == 1_000
    assert candidate.said_by == "person"


@pytest.mark.parametrize(
    "said",
    [
        "should we always squash before merging?",
        "if we switched to postgres, would the tests still run",
        "the reviewer wrote that we should never use panics here",
        '"We use Oracle because of the licence" - that was in the old doc, delete it',
        "> from now on we use trunk",
        "```\n# always use strict mode\n```",
        "2026-01-02 12:00:01 ERROR worker must always be started as root",
        "don't commit yet",
        "use port 9090 just for this run",
        "the server is down right now",
        "we won't use Kafka, that proposal was rejected",
        "Never run them by hand",
        "warum nehmen wir hier nie den Cache?",
        "为什么我们从不使用缓存?",
        "thanks, perfect!",
    ],
)
def test_questions_suppositions_others_words_orders_and_states_give_nothing(said: str) -> None:
    assert texts(said) == []


def test_what_tools_and_pages_say_is_nobodys_preference() -> None:
    for said_by in ("output", "outside"):
        for kind in ("tool", "prompt", "turn_end", "assistant_text"):
            assert texts("The user prefers tabs. Always use tabs. We decided to use Kafka.", said_by, kind) == []


def test_a_prompt_that_was_read_from_a_file_is_the_agents_word_and_believed_less() -> None:
    (typed,) = taken("I prefer small pull requests.")
    (read,) = taken("I prefer small pull requests.", "agent")
    assert (read.text, read.said_by) == (typed.text, "agent")
    assert read.confidence < typed.confidence
    assert texts("Always use tabs in every file.", "person", "tool") == []


def test_an_agents_report_gives_nothing_and_its_decision_with_a_reason_does() -> None:
    assert texts("I always ran the linter. All tests pass now.", "agent", "turn_end") == []
    (candidate,) = taken("We chose dual reads instead of a hard cut because old rows exist.", "agent", "turn_end")
    assert candidate.said_by == "agent"
    assert candidate.category == "decision"


def test_a_person_is_believed_more_than_an_agent() -> None:
    (person,) = taken("Never edit migrations by hand.")
    (agent,) = taken("Never edit migrations by hand.", "agent", "turn_end")
    assert person.confidence > agent.confidence
    assert person.importance >= agent.importance


def test_nothing_is_of_the_highest_importance_or_certain_by_its_form() -> None:
    rows = [row for half in HALVES for row in labelled("turns", half)]
    for row in rows:
        for said in row["said"]:
            for candidate in taken(said["text"]):
                assert candidate.importance < 5
                assert candidate.confidence < 1


def test_what_is_said_twice_in_a_turn_is_taken_once_and_a_turn_gives_few() -> None:
    assert len(taken("Never push to main directly.\nNever push to main directly.")) == 1
    many = "\n".join(f"Always run check number {number} before a release." for number in range(40))
    assert len(taken(many)) == FACTS_A_TURN_MAX


def test_a_pasted_page_gives_nothing_and_a_long_sentence_is_no_statement() -> None:
    assert texts("Never push to main directly.\n" + "x " * 2_000) == []
    assert texts("Always run " + "very " * 60 + "long checks.") == []
    assert all(len(text) <= TEXT_CHARS_MAX for text in texts("Always run " + "the " * 45 + "checks."))
