"""Notes are found by a search and shown by their place, as files that nobody speaks in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from noted_project import put, register
from opened_memory import Memory, opened, rebuilt

from siftd.consolidate.consolidator import NOTES
from siftd.errors import RequestInvalid
from siftd.notes.indexing import ENTRIES_MAX, clean_entries
from siftd.notes.layout import NOTE_BYTES_MAX

DECISIONS = """\
---
type: decisions
---

# Decisions

## Barn

- Okapis sleep in the red barn, because it is warm (person, 2026-11-25, m12)
- The giraffe sleeps outside
"""


async def found(memory: Memory, query: str) -> list[str]:
    answer = await memory.ask("search", query=query)
    return [each["id"] for each in answer["notes"]]


async def tick(memory: Memory) -> None:
    await memory.services.consolidator.do(NOTES)


async def test_a_note_is_found_with_its_place_its_headings_and_nobody_as_its_speaker(tmp_path: Path) -> None:
    put(register(tmp_path), decisions=DECISIONS)
    async with opened(tmp_path) as memory:
        await memory.services.consolidator.tick()
        answer = await memory.ask("search", query="where do the okapis sleep?")
        (note,) = answer["notes"]
        assert (note["id"], note["heading"], note["archived"]) == ("n:decisions.md:9", "Decisions > Barn", False)
        assert note["text"].startswith("- Okapis sleep in the red barn")
        assert "saidBy" not in note
        assert answer["hits"] == []
        assert (await memory.ask("info"))["notes"] == {"entries": 2, "files": 1}


@pytest.mark.parametrize(
    ("filters", "is_found"),
    [
        ({"source": "note"}, True),
        ({"team": False}, True),
        ({"source": "note", "team": False}, True),
        ({"source": "note", "tool": "Bash"}, False),
        ({"source": "memory"}, False),
    ],
)
async def test_a_note_is_found_wherever_no_filter_asks_for_what_it_has_not(
    tmp_path: Path, filters: dict[str, Any], is_found: bool
) -> None:
    put(register(tmp_path), decisions=DECISIONS)
    async with opened(tmp_path) as memory:
        await tick(memory)
        notes = (await memory.ask("search", query="okapis sleep", filters=filters))["notes"]
        assert bool(notes) == is_found


async def test_a_note_is_shown_with_the_lines_around_it_by_any_of_its_lines(tmp_path: Path) -> None:
    project = register(tmp_path)
    put(project, todo="# Todo\n\n- [ ] feed the okapi\n  at seven\n- [ ] rest\n")
    async with opened(tmp_path) as memory:
        for cited in ("n:todo.md:3", "#N:TODO.md:4"):
            item = (await memory.ask("show", id=cited))["item"]
            assert item == {
                "kind": "note",
                "id": "n:todo.md:3",
                "path": f"{project.folder}/todo.md",
                "line": 3,
                "heading": "Todo",
                "text": "- [ ] feed the okapi\n  at seven",
                "before": ["# Todo", ""],
                "after": ["- [ ] rest", ""],
            }
        for cited in ("n:todo.md:2", "n:todo.md:99", "n:state.md:1", "n:other/todo.md:3"):
            with pytest.raises(RequestInvalid):
                await memory.ask("show", id=cited)


async def test_a_changed_file_is_found_by_what_it_says_now(tmp_path: Path) -> None:
    project = register(tmp_path)
    put(project, decisions=DECISIONS)
    async with opened(tmp_path) as memory:
        await tick(memory)
        put(project, decisions=DECISIONS.replace("red barn", "blue tent"))
        await tick(memory)
        assert await found(memory, "a red barn") == []
        assert await found(memory, "a blue tent") == ["n:decisions.md:9"]
        Path(project.file("decisions")).unlink()
        await tick(memory)
        assert await found(memory, "a blue tent") == []
        assert await memory.rows("SELECT count(*) FROM notes") == [(0,)]


async def test_a_file_that_was_only_touched_is_not_read_into_the_index_again(tmp_path: Path) -> None:
    project = register(tmp_path)
    put(project, decisions=DECISIONS)
    async with opened(tmp_path) as memory:
        await tick(memory)
        before = await memory.rows("SELECT id FROM notes ORDER BY id")
        os.utime(project.file("decisions"), ns=(1, 1))
        await tick(memory)
        assert await memory.rows("SELECT id FROM notes ORDER BY id") == before
        assert await memory.rows("SELECT mtime_ns FROM note_files") == [(1,)]


async def test_the_archive_stands_behind_whatever_it_says(tmp_path: Path) -> None:
    project = register(tmp_path)
    put(project, state="- Okapis sleep in some barn now\n")
    Path(project.archive("2026-10")).write_text(
        "<!-- archived 2026-10-01 (budget) -->\n## from state\n- Okapis sleep in the red barn\n"
    )
    async with opened(tmp_path) as memory:
        await tick(memory)
        answer = await memory.ask("search", query="okapis sleep red barn")
        assert [(each["id"], each["archived"]) for each in answer["notes"]] == [
            ("n:state.md:1", False),
            ("n:archive/2026-10.md:3", True),
        ]


async def test_where_two_projects_have_notes_an_id_names_its_project(tmp_path: Path) -> None:
    for name, text in (("api", "- Okapis sleep in the red barn\n"), ("web app", "- Okapis sleep in the tent\n")):
        (tmp_path / name).mkdir()
        put(register(tmp_path, name=name, path=tmp_path / name), state=text)
    other = register(tmp_path, name="alien", path=tmp_path / "home", key="another-workspace")
    put(other, state="- Okapis sleep in a third place\n")
    async with opened(tmp_path) as memory:
        await tick(memory)
        one, two = sorted(await found(memory, "where okapis sleep"), key=lambda each: "api" not in each)
        assert one == "n:api/state.md:1"
        project = two.removeprefix("n:").partition("/")[0]
        assert len(project) == 16  # a name with a blank cannot stand in an id
        assert (await memory.ask("show", id=one))["item"]["text"] == "- Okapis sleep in the red barn"
        assert (await memory.ask("show", id=two))["item"]["text"] == "- Okapis sleep in the tent"
        with pytest.raises(RequestInvalid):
            await memory.ask("show", id="n:state.md:1")


async def test_a_filter_leaves_notes_out(tmp_path: Path) -> None:
    put(register(tmp_path), decisions=DECISIONS)
    async with opened(tmp_path) as memory:
        await tick(memory)
        answer = await memory.ask("search", query="okapis sleep", filters={"tool": "Bash"})
        assert answer["notes"] == []


async def test_one_common_word_of_a_question_finds_no_note(tmp_path: Path) -> None:
    put(register(tmp_path), decisions=DECISIONS)
    async with opened(tmp_path) as memory:
        await tick(memory)
        assert await found(memory, "which zebra, lion and hyena sleep near the canteen") == []
        assert await found(memory, "") == []


async def test_what_is_a_secret_is_hidden_before_it_is_stored_and_where_it_is_shown(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    project = register(tmp_path)
    put(project, state=f"- The okapi's token is {secret}\n- the next\n")
    async with opened(tmp_path) as memory:
        await tick(memory)
        (note,) = (await memory.ask("search", query="token of the okapi"))["notes"]
        assert "[REDACTED:" in note["text"]
        item = (await memory.ask("show", id="n:state.md:2"))["item"]
        assert secret not in str(item)
    stored = [each.read_bytes() for each in (tmp_path / "home" / "default" / "workspaces").rglob("*") if each.is_file()]
    assert not any(secret.encode() in each for each in stored)


def test_a_secret_of_several_lines_moves_no_other_entry() -> None:
    entries = clean_entries(
        "- one\n\nKEY\nKEY\n\n- two\n", lambda text: text.replace("KEY\nKEY", "[REDACTED:private-key:0000]")
    )
    assert [(each.line, each.text) for each in entries] == [
        (1, "- one"),
        (3, "[REDACTED:private-key:0000]"),
        (6, "- two"),
    ]


async def test_links_pipes_and_endless_files_are_no_notes(tmp_path: Path) -> None:
    """Notes in a work tree may have come with a clone."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "2026-11.md").write_text("- Okapis sleep outside\n")
    project = register(tmp_path, in_tree=True)
    folder = Path(project.folder)
    (folder / "state.md").symlink_to(outside / "2026-11.md")
    os.mkfifo(folder / "decisions.md")
    (folder / "todo.md").write_bytes(b"- Okapis sleep\n" * (NOTE_BYTES_MAX // 15 + 1))
    (folder / "archive").rmdir()
    (folder / "archive").symlink_to(outside)
    async with opened(tmp_path) as memory:
        await tick(memory)
        assert await memory.rows("SELECT count(*) FROM notes") == [(0,)]
        for cited in ("n:state.md:1", "n:decisions.md:1", "n:todo.md:1", "n:archive/2026-11.md:1"):
            with pytest.raises(RequestInvalid):
                await memory.ask("show", id=cited)


async def test_a_folder_of_notes_that_is_a_link_has_none(tmp_path: Path) -> None:
    project = register(tmp_path, in_tree=True)
    put(project, state="- Okapis sleep here\n")
    folder = Path(project.folder)
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    async with opened(tmp_path) as memory:
        await tick(memory)
        assert await memory.rows("SELECT count(*) FROM notes") == [(0,)]


def test_a_file_of_nothing_but_entries_is_read_to_a_bound() -> None:
    assert len(clean_entries("- a\n" * (2 * ENTRIES_MAX), str)) == ENTRIES_MAX


async def test_a_rebuilt_store_has_the_notes_again(tmp_path: Path) -> None:
    put(register(tmp_path), decisions=DECISIONS)
    async with opened(tmp_path) as memory:
        await tick(memory)
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert await found(memory, "okapis sleep") == []
        await memory.services.consolidator.tick()
        assert await found(memory, "okapis sleep") == ["n:decisions.md:9"]


async def test_an_export_has_no_notes(tmp_path: Path) -> None:
    put(register(tmp_path), decisions=DECISIONS)
    async with opened(tmp_path) as memory:
        await tick(memory)
        await memory.ask("export", path=str(tmp_path / "out.jsonl"))
    assert b"okapis" not in (tmp_path / "out.jsonl").read_bytes().lower()


async def test_no_prompt_is_given_a_note_unasked(tmp_path: Path) -> None:
    put(register(tmp_path), decisions=DECISIONS)
    async with opened(tmp_path) as memory:
        await tick(memory)
        given = await memory.ask("recall", prompt="where do the okapis sleep?", sessionId="s")
        assert "barn" not in given["text"]
