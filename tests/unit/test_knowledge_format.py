"""The file knowledge.json: the bytes of each released version can be read, and come out the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from siftd.errors import KnowledgeUnreadable
from siftd.knowledge.changing import renewed, texts_of, without, without_events
from siftd.knowledge.format import decode, encode, is_as_written
from siftd.knowledge.page import page

KEPT = Path(__file__).parents[1] / "golden" / "knowledge-1.json"


def test_kept_bytes_are_read_and_written_again_without_a_change() -> None:
    data = KEPT.read_bytes()
    assert encode(decode(data)) == data
    assert is_as_written(data)
    assert page(decode(data)).startswith("# okapi\n")


def test_a_field_of_a_later_siftd_is_passed_over() -> None:
    whole = json.loads(KEPT.read_bytes())
    whole["snapshot"]["weather"] = {"dry": True}
    whole["snapshot"]["modules"][0]["smell"] = "hay"
    assert decode(json.dumps(whole).encode()) == decode(KEPT.read_bytes())


def test_an_edited_file_does_not_fit_its_hash() -> None:
    assert not is_as_written(KEPT.read_bytes().replace(b"pytest -q", b"pytest -x"))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"\xff\xff",
        b"[" * 100_000,
        KEPT.read_bytes()[:-40],
        KEPT.read_bytes().replace(b"siftd-knowledge", b"another"),
        KEPT.read_bytes().replace(b'"files": ', b'"files": "x", "files2": '),
    ],
)
def test_what_is_no_snapshot_is_refused_with_the_remedy(data: bytes) -> None:
    with pytest.raises(KnowledgeUnreadable) as raised:
        decode(data)
    assert raised.value.hint == "`mem knowledge build` makes one"


def test_a_newer_version_is_refused() -> None:
    with pytest.raises(KnowledgeUnreadable, match="version 2"):
        decode(KEPT.read_bytes().replace(b'"version": 1', b'"version": 2'))


def test_parts_with_a_text_go_whole_and_the_rest_stays() -> None:
    snapshot = decode(KEPT.read_bytes())
    left = without(snapshot, lambda text: "barn" in text)
    assert "barn" not in texts_of(left)
    assert left.commands == snapshot.commands
    assert decode(encode(left)) == left


def test_every_text_is_renewed_and_no_hash() -> None:
    snapshot = decode(KEPT.read_bytes())
    left = renewed(snapshot, lambda _: "x")
    assert set(texts_of(left)) == {"x", "\n"}
    assert left.modules[0].hash == snapshot.modules[0].hash


def test_a_command_goes_with_the_last_event_that_shows_it() -> None:
    snapshot = decode(KEPT.read_bytes())
    seen = next(each for each in snapshot.commands if each.basis == "seen")
    assert seen.evidence[0] == "e12"
    assert seen in without_events(snapshot, {"e12"}).commands
    assert seen.command not in [each.command for each in without_events(snapshot, set()).commands]
