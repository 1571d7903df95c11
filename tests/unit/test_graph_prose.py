"""Who and what sentences and pages say to hang together, and what they do not say."""

from __future__ import annotations

import pytest

from siftd.graph.model import RELATIONS_MAX, Found, Named, relation_code
from siftd.graph.pages import read_page
from siftd.graph.prose import read_prose

Triple = tuple[str, str, str]


def triples(found: Found) -> set[Triple]:
    return {(f"{a.type}:{a.name}", relation, f"{b.type}:{b.name}") for (a, relation, b, *_), _ in found.links}


def of_prose(text: str) -> Found:
    found = Found()
    read_prose(found, text)
    return found


def of_page(text: str) -> Found:
    found = Found()
    read_page(found, text)
    return found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "The auth service depends on Redis and the user service.",
            {
                ("service:auth service", "DEPENDS_ON", "tool:Redis"),
                ("service:auth service", "DEPENDS_ON", "service:user service"),
            },
        ),
        ("Alice works on the platform team.", {("person:Alice", "WORKS_ON", "team:platform team")}),
        (
            "Alice Smith and Bob work on the billing project.",
            {("person:Alice Smith", "WORKS_ON", "project:billing"), ("person:Bob", "WORKS_ON", "project:billing")},
        ),
        (
            "The auth-service uses Postgres 16 and Kafka (3.1).",
            {("service:auth-service", "USES", "tool:Postgres"), ("service:auth-service", "USES", "tool:Kafka")},
        ),
        (
            "The billing API is maintained by the payments team.",
            {("team:payments team", "WORKS_ON", "service:billing API")},
        ),
        ("`siftd` was created by Ada Lovelace.", {("concept:siftd", "CREATED_BY", "person:Ada Lovelace")}),
        ("Valkey replaces Redis.", {("concept:Valkey", "REPLACES", "tool:Redis")}),
        ("MySQL was replaced by Postgres.", {("tool:Postgres", "REPLACES", "tool:MySQL")}),
        ("The user service runs in eu-west-1.", {("service:user service", "LOCATED_IN", "place:eu-west-1")}),
        ("The auth service stores its sessions in Redis.", {("service:auth service", "STORES_IN", "tool:Redis")}),
        (
            "The orders service talks to the payment gateway.",
            {("service:orders service", "INTEGRATES_WITH", "service:payment gateway")},
        ),
        ("Redis is an in-memory store.", {("tool:Redis", "IS_A", "concept:in-memory store")}),
        (
            "The auth service, which uses Redis, depends on the user service.",
            {
                ("service:auth service", "USES", "tool:Redis"),
                ("service:auth service", "DEPENDS_ON", "service:user service"),
            },
        ),
        ("Dana (payments team) maintains `ledger`.", {("person:Dana", "WORKS_ON", "concept:ledger")}),
        (
            "Alice is a backend engineer on the platform team.",
            {
                ("person:Alice", "WORKS_ON", "team:platform team"),
                ("person:Alice", "IS_A", "concept:backend engineer"),
            },
        ),
        ("[The auth service](auth.md) depends on **Redis**.", {("service:auth service", "DEPENDS_ON", "tool:Redis")}),
    ],
)
def test_a_sentence_says_how_two_hang_together(text: str, said: set[Triple]) -> None:
    assert triples(of_prose(text)) == said


@pytest.mark.parametrize(
    "text",
    [
        "Does the auth service depend on Kafka?",
        "Should the auth service depend on Kafka, we would have to pay.",
        "If the auth service uses Kafka, stop it.",
        "The auth service does not depend on Kafka.",
        "The auth service should use Kafka.",
        "The auth service will never use Kafka.",
        "We could migrate from Kafka.",
        "It depends on Kafka.",
        "Everything depends on context.",
        "Use Redis and Kafka.",
        "For MSYS2, use `pacman` and `bash`.",
        "The core team is responsible for high-level guidance.",
        "`--flag m3` replaces m3.",
        "It is a `list` of names, and `options` is an object.",
        "Performance depends on the network.",
        "The service depends on an internal cache.",
        "It runs on [REDACTED:secret] and depends on [REDACTED:secret].",
    ],
)
def test_what_is_asked_wished_denied_or_about_nobody_says_nothing(text: str) -> None:
    assert triples(of_prose(text)) == set()


def test_what_holds_no_longer_ends() -> None:
    found = of_prose("The auth service no longer depends on Redis. Bob left the platform team.")
    ended = {(each.src.name, each.type, each.dst.name) for each in found.ended}
    assert ("auth service", "DEPENDS_ON", "Redis") in ended
    assert ("Bob", "WORKS_ON", "platform team") in ended
    assert triples(found) == set()


def test_a_move_names_what_was_and_what_is() -> None:
    found = of_prose("The billing service was migrated from MySQL to Postgres.")
    assert triples(found) == {
        ("tool:Postgres", "REPLACES", "tool:MySQL"),
        ("service:billing service", "USES", "tool:Postgres"),
    }
    assert ("billing service", "USES", "MySQL") in {(each.src.name, each.type, each.dst.name) for each in found.ended}


@pytest.mark.parametrize(
    "text",
    [
        "The auth service was renamed to the identity service.",
        "We renamed the auth service to the identity service.",
        "The identity service (formerly the auth service) is old.",
        "The identity service, formerly known as the auth service, is old.",
    ],
)
def test_a_new_name_keeps_the_old_one(text: str) -> None:
    found = of_prose(text)
    assert ("service:auth service", "RENAMED_TO", "service:identity service") in triples(found)
    assert [(each.named.name, each.alias) for each in found.aliases] == [("identity service", "auth service")]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Pi is a minimal terminal coding harness.", "minimal terminal coding harness"),
        ("YAML is a data serialization format designed for people.", "data serialization format"),
        ("Okapi is a fast, friendly client.", None),
        ("Okapi is a version strongly focused on time.", None),
    ],
)
def test_a_kind_is_a_whole_phrase_or_none(text: str, kind: str | None) -> None:
    assert [link.dst.name for link, _ in of_prose(text).links] == ([] if kind is None else [kind])


def test_a_sentence_that_says_what_something_is_describes_it() -> None:
    found = of_prose("Redis is an in-memory store. It is fast.")
    assert found.descriptions == {Named("tool", "Redis"): "Redis is an in-memory store."}


PAGE = """# Platform

Alice leads the platform team.

## Auth service

It depends on Redis and the
user service.
- Owner: Alice, Bob
- **Depends on:** Kafka (3.x), `mailer`
- Database: Postgres
- Formerly: login service

| Service | Depends on | Team | Description |
|---|---|---|---|
| billing | Stripe, auth service | payments | Bills customers. |
| [search](x.md) | Elasticsearch | - | |

| Person | Role | Team |
|:--|--|--|
| Dana Scully | engineer | platform team |

```sh
The shell service depends on Nothing.
```
"""


def test_a_page_says_it_in_paragraphs_lists_and_tables_each_with_its_line() -> None:
    found = of_page(PAGE)
    assert triples(found) == {
        ("person:Alice", "WORKS_ON", "team:platform team"),
        ("service:Auth service", "DEPENDS_ON", "tool:Redis"),
        ("service:Auth service", "DEPENDS_ON", "service:user service"),
        ("person:Alice", "WORKS_ON", "service:Auth service"),
        ("person:Bob", "WORKS_ON", "service:Auth service"),
        ("service:Auth service", "DEPENDS_ON", "tool:Kafka"),
        ("service:Auth service", "DEPENDS_ON", "concept:mailer"),
        ("service:Auth service", "STORES_IN", "tool:Postgres"),
        ("service:login service", "RENAMED_TO", "service:Auth service"),
        ("service:billing", "DEPENDS_ON", "tool:Stripe"),
        ("service:billing", "DEPENDS_ON", "service:auth service"),
        ("team:payments", "WORKS_ON", "service:billing"),
        ("service:search", "DEPENDS_ON", "tool:Elasticsearch"),
        ("person:Dana Scully", "WORKS_ON", "team:platform team"),
    }
    lines = {(link.dst.name, link.line) for link, _ in found.links}
    assert {("Redis", 7), ("mailer", 10), ("Stripe", 16), ("platform team", 21)} <= lines
    assert found.descriptions[Named("service", "billing")] == "Bills customers."


@pytest.mark.parametrize(
    "hostile",
    [
        "depends on " * 50_000,
        "The a service depends on " + "B and " * 50_000,
        "`" * 100_000,
        "|" * 100_000 + "\n" + "|-" * 50_000,
        "[" * 100_000 + "](" * 1_000,
        "# " + "x" * 1_000_000,
        "A (" * 50_000,
        "X, which " * 20_000 + "uses Redis",
        "**" * 100_000,
        "Owner" + ":" * 100_000,
        "```\n" * 50_000,
    ],
    ids=range(11),
)
def test_hostile_pages_are_read_to_their_end(hostile: str) -> None:
    """Each of them would take minutes if anything were tried again from every place."""
    of_page(hostile)


def test_of_one_document_no_more_is_taken_than_there_is_room_for_and_what_is_left_out_is_counted() -> None:
    found = of_page("\n".join(f"The s{number} service depends on Redis.\n" for number in range(RELATIONS_MAX + 50)))
    assert len(list(found.links)) < RELATIONS_MAX
    assert found.left_out > 0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("depends on", "DEPENDS_ON"),
        ("dependsOn", "DEPENDS_ON"),
        ("DEPENDS_ON", "DEPENDS_ON"),
        ("x" * 100, "X" * 40),
        ("a" * 39 + " b", "A" * 39),
        ("!?", "RELATED_TO"),
        ("drop'); DELETE", "DROP_DELETE"),
    ],
)
def test_an_unknown_relation_is_written_in_capitals_and_not_at_length(text: str, code: str) -> None:
    assert relation_code(text) == code


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 201, "\x1b[31m", "…", "[REDACTED:aws-key:1a2b]", " x"])
def test_what_is_no_name_is_not_taken(name: str) -> None:
    found = Found()
    assert not found.name(Named("concept", name))
    assert found.spoken == []
