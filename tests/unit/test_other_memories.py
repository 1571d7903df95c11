"""What each reader of another memory takes: of stores that the real programs wrote, and of damaged ones.

`tests/data/other_memories` holds what was dumped of stores that rekal 1.8.0, claude-mem 13.25.3, mem0 2.2.1 and the
memory server 2026.8.31 made, as far as it is read.
"""

from __future__ import annotations

import importlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from other_stores import DATA, other_store

from siftd.errors import RequestInvalid
from siftd.install.edits import MarkedBlock
from siftd.other_memories.markdown import Statement, split_frontmatter, statements
from siftd.other_memories.model import Item, LeftBehind, Link, Memory, Places, moment
from siftd.other_memories.registry import OTHER_MEMORIES, other_memory

JANUARY_2 = 1_767_323_045_000


def memories(items: list[Item]) -> list[Memory]:
    return [each for each in items if isinstance(each, Memory)]


def left(items: list[Item]) -> list[str]:
    return [each.why for each in items if isinstance(each, LeftBehind)]


def test_rekal_gives_types_dates_projects_tags_and_links(tmp_path: Path) -> None:
    items = list(other_memory("rekal").read(other_store(tmp_path, "rekal")))
    told = {each.text: (each.category, each.project, each.tags, each.ts) for each in memories(items)}
    assert told == {
        "The API listens on port 8080": ("fact", "shop", ("api", "port"), JANUARY_2),
        "The API listens on port 9090": ("fact", "shop", ("api",), JANUARY_2),
        "Prefer small commits": ("preference", None, (), JANUARY_2),
        "Deploys run at night, see the runbook": ("procedure", "shop", (), JANUARY_2),
    }
    keys = {each.key: each.text for each in memories(items)}
    links = {(keys[each.from_key], each.relation, keys[each.to_key]) for each in items if isinstance(each, Link)}
    assert links == {
        ("The API listens on port 9090", "supersedes", "The API listens on port 8080"),
        ("Deploys run at night, see the runbook", "related_to", "The API listens on port 9090"),
    }


def test_claude_mem_gives_observations_and_what_sessions_learnt_and_leaves_prompts(tmp_path: Path) -> None:
    items = list(other_memory("claude-mem").read(other_store(tmp_path, "claude-mem")))
    bug, decision, session = memories(items)
    assert bug.text.splitlines() == [
        "Carts lost items after an hour: Session store expired them",
        "The cart lived in the session store, which drops entries after 3600 seconds.",
        "- Cart entries now have no expiry",
        "- The store's default expiry is 3600 seconds",
    ]
    assert (bug.category, bug.project, bug.tags, bug.ts) == ("issue", "shop", ("problem-solution", "carts"), JANUARY_2)
    assert (decision.category, decision.tags) == ("decision", ("trade-off",))
    assert session.text.splitlines()[1:] == [
        "Learnt: The session store drops entries after an hour.",
        "Done: Carts are kept in the database.",
        "Next: Move wish lists too.",
    ]
    assert left(items) == ["a prompt: `mem backfill` reads it from the client's own sessions"]


def test_mem0_gives_what_its_history_says_last_and_nothing_deleted(tmp_path: Path) -> None:
    items = list(other_memory("mem0").read(other_store(tmp_path, "mem0")))
    (memory,) = memories(items)
    assert (memory.key, memory.text, memory.ts) == ("a1", "Uses pnpm, and npm for the docs", JANUARY_2)
    assert (memory.updated_ts or 0) > JANUARY_2
    assert left(items) == ["a memory that was deleted there"]


def test_mem0_s_own_answer_as_json_is_read_too(tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    file.write_text(
        '{"results":[{"id":"1","memory":"Uses pnpm","created_at":"2026-01-02T03:04:05Z","categories":["tools"]},{}]}'
    )
    items = list(other_memory("mem0").read(str(file)))
    assert memories(items) == [Memory(key="1", text="Uses pnpm", ts=JANUARY_2, tags=("tools",))]
    assert left(items) == ["a result without an id or a text"]


def test_the_memory_server_gives_each_observation_and_relation_with_its_names() -> None:
    items = list(other_memory("mcp-memory").read(str(DATA / "mcp-memory.jsonl")))
    assert [each.text for each in memories(items)] == [
        "checkout (service): Retries a failed payment twice",
        "checkout (service): Is owned by the payments group",
        "checkout writes to ledger",
    ]
    assert left(items) == ["an entity of which nothing is said"]


def test_instructions_are_the_persons_statements_without_code_imports_and_tools_blocks(tmp_path: Path) -> None:
    (tmp_path / ".claude" / "rules").mkdir(parents=True)
    (tmp_path / "CLAUDE.md").write_text(
        "# Shop\n\nA web shop for tools.\nIt runs on one machine.\n\n## Package manager\n\n- pnpm\n"
        "- Never commit to main\n  unless the build is broken\n\n```sh\nmake deploy\n```\n\n@docs/more.md\n"
        "<!-- some-tool: written\n- by a tool\n-->\n> quoted text\n| a | b |\n"
    )
    (tmp_path / ".claude" / "rules" / "tests.md").write_text("---\npaths: ['**/*.py']\n---\nTests never sleep.\n")
    items = list(other_memory("claude-md").read(str(tmp_path)))
    assert [each.text for each in memories(items)] == [
        "A web shop for tools.\nIt runs on one machine.",
        "Never commit to main\nunless the build is broken",
        "Tests never sleep.",
    ]
    assert {each.said_by for each in memories(items)} == {"person"}
    assert left(items) == ["a line of less than 8 characters"]


def test_claude_codes_own_memory_is_read_by_its_types_and_its_list_of_files_is_not(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("- [Tabs](tabs.md) — how this person indents\n\nThe staging host is slow.\n")
    (tmp_path / "tabs.md").write_text(
        "---\nname: tabs-not-spaces\ndescription: Indent with tabs\nmetadata:\n  type: feedback\n---\n\n"
        "Indent with tabs.\n\n**Why:** the linter wants them.\n"
    )
    host, tabs = memories(list(other_memory("claude-auto-memory").read(str(tmp_path))))
    assert host.text == "The staging host is slow."
    assert (tabs.category, tabs.tags) == ("convention", ("tabs", "tabs-not-spaces"))
    assert tabs.text.startswith("Indent with tabs\nIndent with tabs.")
    assert "the linter wants them" in tabs.text


def test_a_curated_folder_gives_decisions_whole_mistakes_and_what_is_open(tmp_path: Path) -> None:
    folder = tmp_path / ".memory"
    (folder / "archive").mkdir(parents=True)
    head = "---\ntype: notes\n---\n"
    (folder / "decisions.md").write_text(f"{head}# Decisions\n\n- PostgreSQL, because of LISTEN\n")
    (folder / "mistakes.md").write_text(
        f"{head}### 2026-01-02 — Carts lost\n\nSymptom: empty carts.\n\nCause: expiry.\n\n"
        "### 2026-01-03 — Slow\n\nWhy: an index.\n"
    )
    (folder / "todo.md").write_text(f"{head}- [ ] Move wish lists\n- [x] Move carts\n")
    items = list(other_memory("memd").read(str(tmp_path)))
    decision, carts, slow, item = memories(items)
    assert (decision.text, decision.category) == ("PostgreSQL, because of LISTEN", "decision")
    assert carts.text == "Carts lost\nSymptom: empty carts.\nCause: expiry."
    assert (carts.category, carts.ts) == ("issue", moment("2026-01-02"))
    assert slow.text == "Slow\nWhy: an index."
    assert (item.text, item.category) == ("Move wish lists", "action")
    assert len(left(items)) == 2


@pytest.mark.parametrize("name", ["rekal", "claude-mem", "mem0", "mcp-memory"])
def test_what_is_no_such_store_is_refused_and_never_waited_for(tmp_path: Path, name: str) -> None:
    pipe, text, nothing = tmp_path / "pipe", tmp_path / "text", tmp_path / "nothing"
    os.mkfifo(pipe)
    text.write_bytes(b"\xff\x00 no store")
    for path in (pipe, nothing):
        with pytest.raises(OSError):  # noqa: PT011 - whichever it is
            list(other_memory(name).read(str(path)))
    try:
        items = list(other_memory(name).read(str(text)))
    except (OSError, ValueError):
        items = []
    assert memories(items) == []


def test_a_row_that_holds_anything_is_read_as_text_or_left(tmp_path: Path) -> None:
    path = other_store(tmp_path, "rekal")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE memories SET tags = '[[[', created_at = x'ff', memory_type = 'nonsense', content = 7")
    connection.commit()
    connection.close()
    told = {(each.text, each.category, each.ts, each.tags) for each in memories(list(other_memory("rekal").read(path)))}
    assert told == {("7", "fact", None, ())}


def test_a_link_in_a_folder_is_not_followed_and_a_file_too_long_costs_no_other(tmp_path: Path) -> None:
    private = tmp_path / "private.md"
    private.write_text("- The diary of this person\n")
    rules = tmp_path / "project" / ".claude" / "rules"
    rules.mkdir(parents=True)
    (rules / "a.md").symlink_to(private)
    (rules / "b.md").write_text("- Tests never sleep\n")
    (rules / "c.md").write_text("- as long as a book\n" * 60_000)
    items = list(other_memory("claude-md").read(str(tmp_path / "project")))
    assert [each.text for each in memories(items)] == ["Tests never sleep"]
    assert len(left(items)) == 2


def test_a_folder_that_leads_elsewhere_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "decisions.md").write_text("- The diary of this person\n")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".memory").symlink_to(elsewhere)
    with pytest.raises(ValueError, match="no such file"):
        list(other_memory("memd").read(str(tmp_path / "project")))


def test_what_siftd_wrote_into_a_file_of_rules_is_no_word_of_the_person(tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_bytes(MarkedBlock(str(file), "- search the memory first").put(b"- Tests never sleep\n"))
    assert [each.text for each in memories(list(other_memory("claude-md").read(str(file))))] == ["Tests never sleep"]


def test_numbers_that_are_no_dates_and_tags_that_are_no_texts_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    file.write_text('[{"id":"1","memory":"Uses pnpm","created_at":1e300,"updated_at":-5,"categories":[7]}]')
    assert memories(list(other_memory("mem0").read(str(file)))) == [Memory(key="1", text="Uses pnpm")]
    path = other_store(tmp_path, "rekal")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE memories SET tags = ?", ('["\\ud800"]',))
        connection.commit()
    assert {each.tags for each in memories(list(other_memory("rekal").read(path)))} == {()}


def test_tables_of_the_same_name_and_another_form_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        for table in ("observations", "session_summaries", "user_prompts", "history", "memories"):
            connection.execute(f"CREATE TABLE {table} (x)")
            connection.execute(f"INSERT INTO {table} VALUES (1)")
        connection.commit()
    for name in ("claude-mem", "mem0", "rekal"):
        with pytest.raises(OSError, match="cannot be read"):
            list(other_memory(name).read(str(path)))


def test_an_unknown_memory_is_refused_with_the_names_of_the_others() -> None:
    with pytest.raises(RequestInvalid) as caught:
        other_memory("notes")
    assert all(name in (caught.value.hint or "") for name in OTHER_MEMORIES)


def test_the_command_offers_every_memory_that_is_read() -> None:
    command = importlib.import_module("siftd.cli.commands.import")
    assert list(command.SOURCES) == list(OTHER_MEMORIES)


def test_every_memory_knows_where_its_store_is() -> None:
    places = Places("/home/u", "/src/a.b", "/home/u/.claude")
    found = {name: other.default(places) for name, other in OTHER_MEMORIES.items()}
    assert found["claude-auto-memory"] == "/home/u/.claude/projects/-src-a-b/memory"
    assert all(path.startswith(("/home/u/", "/src/a.b")) for path in found.values())


@given(st.text(alphabet="#-*> |`~@<!->1.[]x\n \tab:é", max_size=200))
def test_any_text_is_statements_without_marks_of_a_fence_or_a_heading(text: str) -> None:
    for each in statements(split_frontmatter(text)[1]):
        assert isinstance(each, Statement)
        assert each.text.strip() == each.text != ""
        assert each.line <= text.count("\n") + text.count("\r") + 1


@pytest.mark.parametrize(("given", "ms"), [(True, None), ("soon", None), (1_767_323_045, JANUARY_2), (-5, None)])
def test_a_date_is_seconds_milliseconds_or_iso_8601_and_nothing_else(given: object, ms: int | None) -> None:
    assert moment(given) == ms
    assert moment(JANUARY_2) == moment("2026-01-02 03:04:05") == moment("2026-01-02T04:04:05+01:00") == JANUARY_2
