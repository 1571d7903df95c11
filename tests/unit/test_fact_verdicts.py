"""What becomes of a statement beside what is known: added, merged, in the place of the older one, or its end."""

from __future__ import annotations

import pytest

from siftd.facts.model import Candidate, Known, Verdict
from siftd.facts.verdicts import NEIGHBOURS_MAX, judge
from siftd.model import SaidBy


def candidate(text: str, said_by: SaidBy = "person", topic: str | None = None) -> Candidate:
    return Candidate(
        text=text,
        category="fact",
        confidence=0.8,
        importance=3,
        quote=text,
        sources=(1,),
        said_by=said_by,
        topic=topic,
        valid_from=0,
    )


def known(
    text: str, cosine: float = 0.95, known_id: int = 7, said_by: SaidBy = "person", topic: str | None = None
) -> Known:
    return Known(
        id=known_id,
        text=text,
        category="fact",
        topic=topic,
        said_by=said_by,
        importance=3,
        confidence=0.8,
        cosine=cosine,
    )


def beside(new: str, old: str, cosine: float = 0.95) -> str:
    return judge(candidate(new), [known(old, cosine)]).kind


def test_what_nothing_known_is_near_to_is_added() -> None:
    assert judge(candidate("We use pnpm."), []) == Verdict("add", None, "nothing known says this")


def test_the_same_words_merge_and_the_known_fact_is_named() -> None:
    assert judge(candidate("We use pnpm."), [known("We use pnpm.", known_id=3)]).target == 3
    assert judge(candidate("We use pnpm."), [known("We use pnpm.", known_id=3)]).kind == "merge"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("we use pnpm and not npm", "We use pnpm, not npm."),
        ("Please never push directly to main.", "Never push to main directly."),
        ("In dev the API listens on port 8080.", "The API listens on port 8080 in dev."),
        ("The upload limit is 20MB.", "The upload limit is 20 MB."),
        ("We decided to drop Python 3.8 because nobody uses it.", "We decided to drop Python 3.8."),
        ("Wir verwenden hier uv und nicht pip.", "Wir verwenden uv und nicht pip."),
        ("我们用 pnpm,不用 npm", "我们用 pnpm,不用 npm。"),
    ],
)
def test_the_same_claim_in_nearly_the_same_words_merges(new: str, old: str) -> None:
    assert beside(new, old) == "merge"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The API listens on port 8081.", "The API listens on port 8080."),
        ("The main database is now Postgres.", "The main database is MariaDB."),
        ("We use Vitest for unit tests.", "We use Jest for unit tests."),
        ("We switched from Jest to Vitest for unit tests.", "We use Jest for unit tests."),
        ("We use pnpm, not npm.", "We use npm."),
        ("We use npm.", "We use pnpm, not npm."),
        ("We use tabs, not spaces.", "We use spaces, not tabs."),
        ("We replaced Dramatiq with Temporal.", "We replaced Celery with Dramatiq."),
        ("Der Dienst läuft auf Port 8081.", "Der Dienst läuft auf Port 8080."),
    ],
)
def test_another_value_of_the_same_thing_takes_its_place(new: str, old: str) -> None:
    assert beside(new, old) == "update"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("We no longer use Redis for sessions.", "We use Redis for sessions."),
        ("We don't use Redis for sessions any more.", "We use Redis for sessions."),
        ("Never squash before merging.", "Always squash before merging."),
        ("Telemetry is disabled by default.", "Telemetry is enabled by default."),
        ("Node 16 is not supported.", "Node 16 is supported."),
        ("Wir verwenden Redis nicht mehr.", "Wir verwenden Redis."),
        ("Emojis are allowed.", "Emojis are not allowed."),
    ],
)
def test_the_opposite_of_a_fact_and_its_end_end_it(new: str, old: str) -> None:
    assert beside(new, old) == "delete"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Port 8081 is used in prod.", "Port 8080 is used in dev."),
        ("The API listens on port 8080 in staging.", "The API listens on port 8080 in dev."),
        ("Service B calls service A.", "Service A calls service B."),
        ("Plan B is free.", "Plan A is free."),
        ("We use Postgres.", "We use pnpm."),
        ("We use Kafka to send mails.", "We use Kafka to send events."),
        ("We have a check for rule 14.", "We have a check for rule 12."),
        ("Python 3.9 is supported.", "Python 3.8 is supported."),
        ("Only admins can delete users.", "Admins can delete users."),
        ("The queue is SQS.", "The queue was SQS."),
        ("Never push to release directly.", "Never push to main directly."),
        ("Pull requests need a changelog entry.", "Pull requests need a review."),
        ("The worker must not run as root on Alpine.", "The worker must run as root on Debian."),
        ("Hooks run after a commit.", "Hooks run before a commit."),
        ("User names are unique.", "Names are unique."),
    ],
)
def test_what_differs_in_more_than_a_value_is_added_however_near_it_is(new: str, old: str) -> None:
    assert beside(new, old, cosine=0.999) == "add"


def test_an_agents_word_neither_ends_nor_replaces_a_persons() -> None:
    persons = known("Always squash before merging.")
    assert judge(candidate("Never squash before merging.", said_by="agent"), [persons]).kind == "add"
    assert judge(candidate("Never squash before merging.", said_by="person"), [persons]).kind == "delete"


def test_what_says_the_same_counts_before_what_would_be_replaced() -> None:
    facts = [known("The port is 80.", 0.97, known_id=1), known("The port is 81.", 0.9, known_id=2)]
    assert judge(candidate("The port is 81."), facts) == Verdict("merge", 2, "says the same")


def test_of_two_that_would_be_replaced_the_nearest_is() -> None:
    facts = [known("The port is 80.", 0.9, known_id=1), known("The port is 82.", 0.97, known_id=2)]
    assert judge(candidate("The port is 81."), facts).target == 2


def test_no_more_than_the_nearest_few_are_compared() -> None:
    far = known("The port is 80.", 0.80, known_id=99)
    others = [known(f"Door {number} is green.", 0.9, known_id=number) for number in range(NEIGHBOURS_MAX)]
    assert judge(candidate("The port is 81."), [*others, far]).kind == "add"


def test_a_newer_word_on_the_same_topic_replaces_without_a_comparison_of_words() -> None:
    old = known("Tests run with `make test`.", cosine=0.1, topic="command:test", said_by="output")
    new = candidate("Tests run with `pnpm vitest run`.", said_by="output", topic="command:test")
    assert judge(new, [old]).kind == "update"


def test_the_order_in_which_known_facts_are_given_does_not_matter() -> None:
    facts = [known("The port is 80.", 0.97, known_id=1), known("We use npm.", 0.5, known_id=2)]
    assert judge(candidate("The port is 81."), facts) == judge(candidate("The port is 81."), facts[::-1])


def test_a_text_too_long_for_a_statement_is_added() -> None:
    long = "The port is 81. " * 50
    assert beside(long, long + "And more.") == "add"
