"""Ids are read as they are printed, wherever they are typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opened_memory import opened

from siftd import ids
from siftd.errors import RequestInvalid
from siftd.install.slash import parse_slash

KINDS = st.sampled_from(ids.KINDS)
NUMBERS = st.integers(0, 10**18 - 1)


@given(KINDS, NUMBERS, st.sampled_from(["{}", "#{}", " {} ", "#{}\n"]), st.booleans())
def test_what_is_printed_is_read_with_or_without_its_mark(kind: str, number: int, form: str, is_large: bool) -> None:
    cited = ids.cite(kind, number)
    typed = form.format(cited.upper() if is_large else cited)
    assert ids.is_id(typed)
    assert ids.parse(typed) == (kind, number)
    assert ids.normal(typed) == cited
    assert ids.parse_number(typed, kind) == number


@given(NUMBERS, KINDS)
def test_a_bare_number_is_of_the_kind_that_is_asked_for(number: int, kind: str) -> None:
    assert ids.parse(str(number), kind) == (kind, number)
    assert ids.parse_number(f"#{number}", kind) == number


@pytest.mark.parametrize("text", ["", "#", "e", "q9", "e-1", "e1 2", "##e1", "e" + "1" * 19, "s1.5", "e١"])
def test_what_is_no_id_is_refused_with_what_one_looks_like(text: str) -> None:
    assert not ids.is_id(text)
    with pytest.raises(RequestInvalid) as refused:
        ids.parse(text)
    assert "e12" in refused.value.hint


def test_an_id_of_another_kind_is_refused() -> None:
    with pytest.raises(RequestInvalid, match="another kind"):
        ids.parse_number("s7", ids.EVENT)


@given(st.lists(st.tuples(KINDS, NUMBERS), max_size=5))
def test_ids_are_found_in_a_text(cited: list[tuple[str, int]]) -> None:
    written = [ids.cite(*each) for each in cited]
    assert ids.find(", ".join(f"see #{each}" for each in written)) == written
    assert ids.find("".join(f"/src/{each}/x-{each} a{each}" for each in written)) == []


@given(NUMBERS, st.none() | st.integers(0, 10**9 - 1), st.sampled_from(["{}", "#{}", " {} "]), st.booleans())
def test_a_document_is_cited_with_a_line_or_whole(number: int, line: int | None, form: str, is_large: bool) -> None:
    cited = ids.cite_document(number, line)
    typed = form.format(cited.upper() if is_large else cited)
    read = ids.parse_document(typed)
    assert read is not None
    assert (read.number, read.line) == (number, line)
    assert not ids.is_id(typed)
    assert ids.find(f"see {cited}, as said") == ([] if line is None else [cited])


@pytest.mark.parametrize("cited", ["n:state.md:1", "n:archive/2026-11.md:30", "n:api/todo.md:9", "n:archive/todo.md:2"])
def test_a_note_is_cited_by_its_place_and_is_nothing_with_a_number(cited: str) -> None:
    for typed in (cited, f"#{cited}", cited.upper(), f" {cited}\n"):
        note = ids.parse_note(typed)
        assert note is not None
        assert ids.cite_note(note).lower() == cited
    assert not ids.is_id(cited)
    with pytest.raises(RequestInvalid, match="a place in a file"):
        ids.parse(cited)
    assert ids.find(f"see {cited}, or /x/{cited}, and e1") == [cited, "e1"]


@pytest.mark.parametrize(
    "text", ["n:other.md:1", "n:state.md", "n:../state.md:1", "n:a/b/state.md:1", "n:archive/x.md:1"]
)
def test_no_other_file_is_a_note(text: str) -> None:
    assert ids.parse_note(text) is None
    assert ids.find(text) == []


async def test_every_request_takes_them_as_they_are_printed(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        event = await memory.capture(1)
        kept = (await memory.ask("remember", text="Lamps burn oil."))["memoryId"]
        await memory.ask("drain")
        for mark in ("", "#"):
            assert (await memory.ask("show", id=f"{mark}e{event}"))["item"]["id"] == event
            assert (await memory.ask("show", id=f"{mark}m{kept}"))["item"]["kind"] == "memory"
            assert (await memory.ask("timeline", around=f"{mark}s1"))["events"]
            assert (await memory.ask("injections", id=f"{mark}e{event}"))["injections"] == []
            assert (await memory.ask("related", id=f"{mark}m{kept}"))["related"] == []
            assert (await memory.ask("retry", id=f"{mark}e{event}"))["retried"] == 0
            assert (await memory.ask("forget", ids=[f"{mark}e{event}", f"{mark}M{kept}"], dryRun=True))["matched"] == 2
        with pytest.raises(RequestInvalid, match="every project"):
            await memory.ask("forget", ids=["#g1"])


def test_the_slash_command_takes_them_too() -> None:
    assert parse_slash("forget #e12 M3") == ["forget", "--dry-run", "#e12", "M3"]


@given(NUMBERS, st.sampled_from(["{}", "#{}", " {} "]), st.booleans())
def test_an_entity_is_cited_by_its_number(number: int, form: str, is_large: bool) -> None:
    cited = ids.cite_entity(number)
    typed = form.format(cited.upper() if is_large else cited)
    assert ids.parse_entity(typed) == number
    assert not ids.is_id(typed)
    with pytest.raises(RequestInvalid, match="entity"):
        ids.parse(typed)


def test_what_merely_looks_like_an_entity_is_found_in_no_text() -> None:
    assert ids.find("x86 and x3, #x264") == []
