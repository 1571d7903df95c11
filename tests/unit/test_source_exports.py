"""What other programs export becomes lines, and what is none of it costs no other."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from siftd.errors import RequestInvalid
from siftd.team.sources import reading
from siftd.team.sources.line import Line, LineSource, encode
from siftd.team.sources.reading import Form, Problem, read

DATA = Path(__file__).parents[1] / "data" / "sources"


def told(name: str, source: LineSource, form: Form) -> tuple[list[Line], list[Problem]]:
    with (DATA / name).open("rb") as file:
        found = list(read(file, source, form, name, 1_000))
    return [each for each in found if isinstance(each, Line)], [each for each in found if isinstance(each, Problem)]


def of_bytes(data: bytes, source: LineSource = "issue", form: Form = "") -> tuple[list[Line], list[Problem]]:
    found = list(read(io.BytesIO(data), source, form, "x.json", 1_000))
    return [each for each in found if isinstance(each, Line)], [each for each in found if isinstance(each, Problem)]


def test_githubs_issues_are_read_pull_requests_among_them() -> None:
    lines, problems = told("github-issues.json", "issue", "github")
    assert [(line.source, line.ref, line.status, line.labels, line.by) for line in lines] == [
        ("issue", "github.com/acme/shop/issues/12", "closed (not planned)", ["bug", "P1"], "ana"),
        ("issue", "github.com/acme/shop/issues/13", "open", [], "ben"),
    ]
    assert lines[0].title == "Login fails with an expired token"
    assert lines[0].updated_ms == 1_795_168_800_000
    assert lines[1].url == "https://github.com/Acme/shop/pull/13"
    assert problems == [Problem(3, "no_address"), Problem(4, "no_such_object")]


def test_what_gh_lists_has_the_same_keys_with_the_comments_inside() -> None:
    lines, problems = told("gh-issue-list.json", "issue", "github")
    assert [(line.source, line.ref, line.by, line.status) for line in lines] == [
        ("issue", "github.com/acme/shop/issues/12", "ana", "open"),
        ("comment", "github.com/acme/shop/issues/12/comments/345", "ben", ""),
    ]
    assert problems == []


def test_githubs_comments_are_read() -> None:
    lines, _ = told("github-comments.json", "comment", "github")
    assert [(line.ref, line.text, line.by) for line in lines] == [
        ("github.com/acme/shop/issues/12/comments/345", "Seen too", "ben")
    ]


def test_githubs_jobs_tell_which_step_failed_and_wait_until_they_are_over() -> None:
    lines, problems = told("github-jobs.json", "job", "actions")
    assert [(line.ref, line.status, line.read_as) for line in lines] == [
        ("github.com/acme/shop/actions/jobs/678", "failure", "plain")
    ]
    assert lines[0].text.splitlines()[:2] == ["ci on main: failure", "Failed step: Test"]
    assert problems == []


def test_gitlabs_issues_and_notes_are_read_without_what_gitlab_notes_itself() -> None:
    lines, _ = told("gitlab-issues.json", "issue", "gitlab")
    assert [(line.ref, line.status, line.labels, line.by, line.updated_ms) for line in lines] == [
        ("gitlab:7/issues/14", "open", ["bug", "priority::1"], "ana", 1_795_168_800_123)
    ]
    notes, problems = told("gitlab-notes.json", "comment", "gitlab")
    assert [(line.ref, line.text, line.by) for line in notes] == [("gitlab:7/issues/14/notes/302", "Seen too", "ben")]
    assert problems == [Problem(3, "no_note_of_an_issue")]


def test_the_export_of_a_gitlab_project_has_the_same_keys() -> None:
    lines, problems = told("gitlab-export-issues.ndjson", "issue", "gitlab")
    assert [(line.source, line.ref, line.labels) for line in lines] == [
        ("issue", "gitlab:7/issues/14", ["bug"]),
        ("comment", "gitlab:7/issues/14/notes/302", []),
    ]
    assert problems == []


def test_our_own_lines_are_read_and_those_of_another_source_passed_over() -> None:
    data = b"\xef\xbb\xbf" + encode(Line(source="issue", ref="a/1", updated=5, text="x"))
    data += b"\n \nnone\n" + encode(Line(source="job", ref="a/2", updated=5))
    lines, problems = of_bytes(data)
    assert [line.ref for line in lines] == ["a/1"]
    assert problems == [Problem(4, "no_line"), Problem(5, "another_source")]


def test_pages_of_arrays_are_read_as_one() -> None:
    issue = json.loads((DATA / "github-issues.json").read_text())[0]
    lines, _ = of_bytes(json.dumps([[issue], [issue]]).encode(), form="github")
    assert len(lines) == 2
    lines, _ = of_bytes((json.dumps(issue) + "\n").encode() * 3, form="github")
    assert len(lines) == 3


def test_arrays_behind_each_other_are_refused_with_the_remedy() -> None:
    with pytest.raises(RequestInvalid) as refused:
        of_bytes(b"[{}][{}]", form="github")
    assert "--slurp" in refused.value.hint


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xff", b"{" * 100_000, b'{"title":' * 100_000, b'{"html_url":1}', b'{"labels":[[]]}'],
    ids=lambda data: data[:10].decode("latin-1"),
)
@pytest.mark.parametrize(("source", "form"), sorted(reading.SUPPORTED))
def test_hostile_bytes_are_no_lines(data: bytes, source: LineSource, form: Form) -> None:
    lines, _ = of_bytes(data, source, form)
    assert [line for line in lines if line.source != "job"] == []


def test_nesting_without_end_in_an_array_is_refused() -> None:
    for data in (b"[" * 100_000, b"[" + b'{"a":' * 100_000):
        with pytest.raises(RequestInvalid):
            of_bytes(data, form="github")


def test_a_line_that_is_too_long_costs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LINE_BYTES_MAX", 1_000)
    good = encode(Line(source="issue", ref="a/1", updated=5))
    lines, problems = of_bytes(good + b"x" * 5_000 + b"\n" + good)
    assert len(lines) == 2
    assert problems == [Problem(2, "too_long")]


def test_an_array_that_is_too_long_says_how_to_export_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "ARRAY_BYTES_MAX", 100)
    with pytest.raises(RequestInvalid) as refused:
        of_bytes(b"[" + b" " * 200 + b"]", form="github")
    assert "--jq" in refused.value.hint


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04rest",
        b"\x1f\x8b\x08rest",
        b"BZh91AY",
        b"\xfd7zXZ\x00",
        b"7z\xbc\xaf\x27\x1c",
        b"\x28\xb5\x2f\xfdrest",
        b"unit.log" + b"\0" * 249 + b"ustar\x0000",
    ],
    ids=["zip", "gzip", "bzip2", "xz", "7z", "zstd", "tar"],
)
def test_an_archive_is_refused_with_the_remedy(data: bytes) -> None:
    with pytest.raises(RequestInvalid) as refused:
        of_bytes(data, "job", "actions")
    assert "unpack" in refused.value.hint


@pytest.mark.parametrize(("source", "form"), sorted(reading.SUPPORTED))
def test_what_powershell_writes_by_itself_is_refused_with_the_remedy(source: LineSource, form: Form) -> None:
    for code in ("utf-16-le", "utf-16-be"):
        with pytest.raises(RequestInvalid) as refused:
            of_bytes(("\ufeff" + "[{}]").encode(code), source, form)
        assert "utf8" in refused.value.hint


def test_a_form_that_has_no_such_source_is_refused() -> None:
    with pytest.raises(RequestInvalid):
        of_bytes(b"{}", "issue", "actions")


# Logs


def test_the_log_of_actions_tells_the_failed_step_first() -> None:
    (line,), _ = told("actions.log", "job", "actions")
    assert (line.ref, line.title, line.status) == ("log:actions", "actions", "failed")
    assert line.updated_ms == 1_795_169_220_765


def test_a_log_that_names_no_time_is_of_when_it_was_written() -> None:
    (line,), _ = told("gitlab-job.log", "job", "gitlab")
    assert (line.ref, line.status, line.updated_ms) == ("log:gitlab-job", "failed", 1_000)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("unit.1", "unit.2"),
        ("unit tests.log", "unit_tests.log"),
        ("unit #12.log", "unit #13.log"),
        ("a?b.log", "a*b.log"),
        ("a\udc80.log", "a\udc81.log"),
        ("é.log", "e.log"),
        ("l" * 500 + "1.log", "l" * 500 + "2.log"),
    ],
)
def test_logs_of_two_names_are_two_jobs(one: str, other: str) -> None:
    lines = [next(iter(read(io.BytesIO(b"done\n"), "job", "actions", name, 1_000))) for name in (one, other)]
    first, second = (each for each in lines if isinstance(each, Line))
    assert first.ref != second.ref
    encode(first)


def test_a_log_may_begin_with_the_letters_of_an_archive() -> None:
    (line,), _ = of_bytes(b"PKG_CONFIG_PATH=/usr/lib\ndone\n", "job", "actions")
    assert line.text.startswith("PKG_CONFIG_PATH")


def test_a_log_may_begin_with_a_bracket() -> None:
    (line,), _ = of_bytes(b"[INFO] built\n2026-11-20T10:00:00Z done\n", "job", "actions")
    assert line.text.startswith("[INFO]")
