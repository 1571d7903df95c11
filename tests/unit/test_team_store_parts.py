"""What the team's store does before and after PostgreSQL: checks, columns, vectors, refusals, rendered SQL."""

from __future__ import annotations

import base64
import math
import uuid

import msgspec
import numpy as np
import psycopg
import pytest
from team_people import item

from siftd.team.items import DIMENSIONS_MAX, Forget
from siftd.team_server.migrate import functions_text, known_files, render
from siftd.team_server.pushing import check, columns
from siftd.team_server.refusals import RETRY_SECONDS, BadArgument, TokenRefused, Unavailable, refusal
from siftd.team_server.vectors import decode, from_numbers

PROJECT = uuid.UUID(int=1)


def base(numbers: list[float]) -> str:
    return base64.b64encode(np.asarray(numbers, "<f2").tobytes()).decode()


@pytest.mark.parametrize(
    "data",
    ["", "!", "QQ==", base([0.0, 0.0]), base([1.0, math.nan]), base([math.inf]), base([1.0] * (DIMENSIONS_MAX + 1))],
)
def test_what_is_no_vector_is_none(data: str) -> None:
    assert decode(data) is None


def test_a_vector_is_told_as_pgvector_prints_it() -> None:
    found = decode(base([1.0, -0.5]))
    assert found is not None
    assert (found.dimensions, found.text(), found) == (2, "[1.0,-0.5]", from_numbers([1.0, -0.5]))


def test_of_one_id_in_a_push_the_latest_telling_counts() -> None:
    first, second = item(PROJECT, "m1", "first", rev=1), item(PROJECT, "m1", "second", rev=2)
    assert check(PROJECT, [first, second])[0] == [second]
    puts, gone, ignored = check(PROJECT, [second, first])
    assert (puts, gone, [(each.why, each.rev) for each in ignored]) == ([second], [], [("older", 2)])
    puts, gone, ignored = check(PROJECT, [second, Forget(id=second.id, rev=3), first])
    assert (puts, gone, [each.why for each in ignored]) == ([], [second.id], ["older"])


def test_an_item_of_another_project_or_hash_is_malformed() -> None:
    good = item(PROJECT, "m1", "text")
    assert check(uuid.UUID(int=2), [good])[2][0].why == "malformed"
    assert check(PROJECT, [msgspec.structs.replace(good, text="another")])[2][0].why == "malformed"
    zero = item(PROJECT, "m1", "text", metadata={"tags": ["a", {"b\0": 1}]})
    assert check(PROJECT, [zero])[2][0].why == "malformed"


def test_every_column_of_a_push_has_a_row_for_each_item() -> None:
    puts = [item(PROJECT, f"m{n}", f"text {n}") for n in range(3)]
    assert {len(each) for each in columns(puts, with_vectors=True)} == {3}


@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        (psycopg.errors.lookup("57014")(), Unavailable, 503),  # a statement's time is over
        (psycopg.errors.lookup("55P03")(), Unavailable, 503),  # a lock is not to be had
        (psycopg.errors.lookup("53100")(), Unavailable, 503),  # the disk is full
        (psycopg.errors.lookup("25006")(), Unavailable, 503),  # a standby
        (psycopg.OperationalError("connection refused"), Unavailable, 503),
        (psycopg.errors.lookup("22P05")(), BadArgument, 400),  # a character that cannot be kept
        (psycopg.errors.lookup("42883")(), Unavailable, 503),  # a function that is not there
    ],
)
def test_what_postgresql_says_becomes_a_status(error: psycopg.Error, kind: type, status: int) -> None:
    refused = refusal(error)
    assert isinstance(refused, kind)
    assert refused.status == status
    assert (refused.retry_after_seconds == RETRY_SECONDS) == (status == 503)


def test_a_fault_of_our_own_is_none_of_these() -> None:
    assert refusal(KeyError("x")) is None
    assert refusal(psycopg.errors.lookup("42601")()) is None  # a syntax error: nobody is to try it again
    assert not issubclass(TokenRefused, Unavailable)


def test_a_store_without_vectors_names_no_extension() -> None:
    for text in (*(each.text for each in known_files()), functions_text()):
        bare = "\n".join(line for line in render(text, None).splitlines() if not line.startswith("--"))
        assert "halfvec" not in bare
        assert "@" not in bare.replace("@@", "")
        assert '"siftd_vector".halfvec' in render(text, "siftd_vector")
