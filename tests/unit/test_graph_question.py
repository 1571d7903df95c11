"""What a question asks of the graph: names are looked up, the relation and its direction are read from its words."""

from __future__ import annotations

import pytest

from siftd.search.graph_question import WORDS_MAX, Asked, Run, asked, is_question, longest, runs


def _named(question: str, *names: str) -> list[Run]:
    return longest(each for each in runs(question) if each.text.casefold() in names)


@pytest.mark.parametrize(
    ("question", "name", "wanted"),
    [
        ("What services does the auth service depend on?", "auth service", Asked("DEPENDS_ON", True, "service")),
        ("what depends on billing", "billing", Asked("DEPENDS_ON", False, None)),
        ("Which services depend on the auth service?", "auth service", Asked("DEPENDS_ON", False, "service")),
        ("Who works on the importer?", "importer", Asked("WORKS_ON", False, "person")),
        ("what does Maria work on?", "maria", Asked("WORKS_ON", True, None)),
        ("Who created siftd?", "siftd", Asked("CREATED_BY", True, "person")),
        ("Which modules import siftd.ids?", "siftd.ids", Asked("IMPORTS", False, "file")),
        ("what does checkout use?", "checkout", Asked("USES", True, None)),
        ("Where does billing store its ledger?", "billing", Asked("STORES_IN", True, None)),
    ],
)
def test_the_relation_that_is_asked_for_is_read_from_the_words_around_the_name(
    question: str, name: str, wanted: Asked
) -> None:
    (named,) = _named(question, name)
    assert asked(question, named) == wanted


@pytest.mark.parametrize("question", ["What do I know about the platform team?", "Tell me about the platform team"])
def test_a_question_about_anything_asks_for_no_single_relation(question: str) -> None:
    (named,) = _named(question, "platform team")
    assert asked(question, named) is None


def test_a_name_that_is_a_verb_is_a_name() -> None:
    question = "What depends on the use service?"
    (named,) = _named(question, "use service")
    assert asked(question, named) == Asked("DEPENDS_ON", False, None)


def test_a_name_alone_is_no_question() -> None:
    assert not is_question("uses")
    (named,) = _named("billing uses", "billing")
    assert asked("billing uses", named) is None


def test_of_names_inside_of_each_other_the_longer_one_counts() -> None:
    question = 'Does "auth service" talk to auth, or to billing?'
    assert [each.text for each in _named(question, "auth service", "auth", "billing")] == [
        "auth service", "auth", "billing",
    ]  # fmt: skip


def test_quotes_commas_possessives_and_the_full_stop_belong_to_no_name() -> None:
    found = {each.text for each in runs("what is `siftd/ids.py`, and the billing's owner.")}
    assert {"siftd/ids.py", "billing", "owner"} <= found


def test_words_that_every_question_has_are_no_names() -> None:
    assert not {"what", "do", "i", "know", "about", "what do i know about"} & {
        each.text.casefold() for each in runs("What do I know about it?")
    }


def test_a_question_of_any_length_has_few_runs() -> None:
    assert len(runs("word " * 100_000)) <= 6 * WORDS_MAX
