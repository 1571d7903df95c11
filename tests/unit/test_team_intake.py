"""What a team's server looks at before an item may enter its store."""

from __future__ import annotations

import uuid
from typing import Any

import msgspec
import pytest

from siftd.team.items import Forget, Put, content_hash, document_id
from siftd.team_server.intake import Intake

PROJECT = uuid.UUID("0b6c3c52-5f0e-4d5b-9d0b-6a6f2c4f8a11")
SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


def made(text: str = "The job queue runs on Postgres", **fields: Any) -> Put:
    put = Put(
        id=document_id(PROJECT, "memory", fields.get("source_ref", "m1")), rev=1, hash="0" * 64, source="memory",
        source_ref=fields.pop("source_ref", "m1"), text=text, ts=1, **fields,
    )  # fmt: skip
    return msgspec.structs.replace(put, hash=content_hash(put))


def why(put: Put) -> str | None:
    taken, refused = Intake().sift([put])
    assert len(taken) + len(refused) == 1
    return refused[0].why if refused else None


def test_an_item_that_is_what_it_says_passes_unchanged() -> None:
    put = made(metadata={"type": "decision", "session": "0b6c3c52-5f0e-4d5b-9d0b-6a6f2c4f8a11", "tags": ["queue"]})
    forget = Forget(id=put.id, rev=2)
    assert Intake().sift([put, forget]) == ([put, forget], [])


@pytest.mark.parametrize(
    "put",
    [
        made(f"use {SECRET} there"),
        made(words=f"use {SECRET}"),
        made(source_ref=SECRET),
        made(metadata={"title": f"token {SECRET}"}),
        made(metadata={"password": "Xk29-vvQ7-paLm"}),
        made(metadata={"deep": [{"labels": [SECRET]}]}),
        made(metadata={SECRET: 1}),
    ],
    ids=["text", "words", "ref", "title", "named", "deep", "key"],
)
def test_an_item_that_holds_a_secret_is_refused_wherever_it_stands(put: Put) -> None:
    assert why(put) == "secret"


def test_what_a_laptop_has_redacted_passes() -> None:
    assert (
        why(made("use [REDACTED:github-token:7f3a] there", metadata={"password": "[REDACTED:password:12ab]"})) is None
    )


def test_an_address_is_each_persons_own_choice() -> None:
    assert why(made("ask ana.lopez@example.org or +44 20 7946 0958")) is None


def test_metadata_that_nest_beyond_reading_are_refused() -> None:
    deep: Any = SECRET
    for _ in range(600):
        deep = [deep]
    assert why(made(metadata={"deep": deep})) == "secret"
