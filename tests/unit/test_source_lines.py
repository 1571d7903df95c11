"""The line format of issues, comments and jobs: what version 1 says is what every later siftd reads of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from siftd.errors import EnvelopeRejected
from siftd.team.sources.line import LINE_BYTES_MAX, REF_CHARS_MAX, Line, decode, encode, parse_moment

KEPT = Path(__file__).parents[1] / "golden" / "source-lines-1.jsonl"


def test_the_kept_lines_of_version_1_say_what_they_said() -> None:
    issue, comment, job, gone = (decode(line) for line in KEPT.read_bytes().splitlines())
    assert issue == Line(
        source="issue",
        ref="github.com/acme/shop/issues/12",
        updated="2026-11-20T10:00:00Z",
        title="Login fails",
        text=issue.text,
        status="open",
        priority="high",
        labels=["bug", "area/auth"],
        by="ana",
        url="https://github.com/acme/shop/issues/12",
    )
    assert (issue.updated_ms, issue.read_as) == (1_795_168_800_000, "markdown")
    assert (comment.source, comment.updated_ms, comment.by) == ("comment", 1_795_946_400_000, "ben")
    assert (job.status, job.tools, job.read_as) == ("failed", ["pytest"], "log")
    assert gone.deleted


def test_a_line_that_is_written_is_read_again() -> None:
    for line in (decode(each) for each in KEPT.read_bytes().splitlines()):
        assert decode(encode(line)) == line


GOOD = {"source": "issue", "ref": "a/1", "updated": 1, "text": "x"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"source": "memory"}, "no_line"),
        ({"ref": ""}, "no_line"),
        ({"ref": "a\nb"}, "no_line"),
        ({"ref": "x" * (REF_CHARS_MAX + 1)}, "no_line"),
        ({"ref": "a/1#2"}, "ref_of_a_chunk"),
        ({"version": 2}, "newer_version"),
        ({"updated": "yesterday"}, "no_moment"),
        ({"updated": 0}, "no_moment"),
        ({"updated": 10**18}, "no_line"),
        ({"updated": "0001-01-01T00:00:00Z"}, "no_moment"),
        ({"labels": "bug"}, "no_line"),
        ({"labels": [["bug"]]}, "no_line"),
        ({"text": None}, "no_line"),
    ],
)
def test_what_is_no_line_is_refused_with_a_reason_that_quotes_nothing(change: dict[str, object], reason: str) -> None:
    with pytest.raises(EnvelopeRejected) as refused:
        decode(json.dumps({**GOOD, **change}).encode())
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{",
        b'{"source":"issue"}',
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b'{"source":"issue","ref":"\\ud800","updated":1}',
    ],
    ids=lambda data: data[:12].decode("latin-1"),
)
def test_bytes_that_are_none_of_ours_are_refused(data: bytes) -> None:
    with pytest.raises(EnvelopeRejected):
        decode(data)


def test_a_line_that_is_too_long_is_not_read_at_all() -> None:
    with pytest.raises(EnvelopeRejected) as refused:
        decode(b" " * (LINE_BYTES_MAX + 1))
    assert refused.value.reason == "too_long"


def test_a_zone_may_stand_apart() -> None:
    assert parse_moment("2026-11-20 12:00:00 +0200") == parse_moment("2026-11-20T10:00:00Z")
    assert parse_moment("2026-11-20 08:00:00 -02:00") == parse_moment("2026-11-20 10:00:00 UTC")


def test_a_moment_without_a_zone_is_utc() -> None:
    times = {"2026-11-20T10:00:00Z", "2026-11-20T10:00:00", "2026-11-20 10:00:00 UTC", "2026-11-20T11:00:00+01:00"}
    assert {Line(source="issue", ref="a", updated=each).updated_ms for each in times} == {1_795_168_800_000}
