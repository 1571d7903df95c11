"""What is forgotten leaves the notes: the files, what the pipeline keeps of them, and their index; the rest stays."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from noted_project import put, register
from opened_memory import DAY, NOW, Hands, Memory, opened, rebuilt

from siftd.clock import SystemClock
from siftd.config import Settings
from siftd.consolidate.consolidator import HIDE, NOTES
from siftd.errors import SiftdError
from siftd.notes import applying, registry, scaffold
from siftd.notes.forgotten import change_mark, is_pending, mark_of
from siftd.notes.layout import Bookkeeping, Project, registry_file
from siftd.notes.replacing import ARCHIVE_BYTES_MAX, digest_of
from siftd.notes.surroundings import Surroundings
from siftd.notes.sync import sync
from siftd.workspace.paths import GLOBAL, Home

HAY = "Okapis eat hay at seven."
OTHER = "### 2026-11-20 — Other\n- Symptom: x\n"
STATE = """\
---
type: state
status: active
---

# State

Written by hand: the zebra is called Zanzibar,
and likes apples.

- The giraffe is tall\x20\x20
\t- and old
"""


def state_of(project: Project, folder: Path) -> Bookkeeping:
    return Bookkeeping(Home(str(folder / "home")), project.id)


def read(project: Project, name: str = "decisions") -> str:
    return Path(project.folder, f"{name}.md").read_text(encoding="utf-8")


def holders(folder: Path, word: str) -> list[str]:
    """Return the files of the home that hold a word."""
    files = (each for each in (folder / "home").rglob("*") if each.is_file())
    return sorted(str(each.relative_to(folder)) for each in files if word.lower().encode() in each.read_bytes().lower())


async def tell(memory: Memory, prompt: str, **fields: object) -> int:
    given = {"tool": "UserPromptSubmit", "payload": {"prompt": prompt}, "eventKind": "prompt", **fields}
    return await memory.capture(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("in_tree", [False, True])
async def test_a_forgotten_text_leaves_what_a_person_wrote_by_hand_and_the_rest_stays(
    tmp_path: Path, in_tree: bool
) -> None:
    project = register(tmp_path, in_tree=in_tree)
    put(project, state=STATE, todo="- [ ] call ZANZIBAR\n- [ ] rest\n")
    Path(project.inbox, "one.md").write_text("Zanzibar has moved")
    Path(project.inbox, "two.txt").write_text("- keep this\n- zanzibar\n")
    Path(project.archive("2026-10")).write_text(
        "<!-- archived 2026-10-01 (budget) -->\n## from todo\n- Zanzibar!\n- old\n"
    )
    mode = Path(project.file("state")).stat().st_mode
    async with opened(tmp_path) as memory:
        await memory.services.consolidator.do(NOTES)
        dry = await memory.ask("forget", query="zanzibar", dryRun=True)
        assert (dry["matched"], dry["byKind"]["note"]) == (5, 5)
        assert "Zanzibar" in read(project, "state")
        done = await memory.ask("forget", query="zanzibar", dryRun=False)
        assert (done["byKind"]["note"], done["pending"]) == (5, [])
        assert await memory.rows("SELECT 1 FROM notes WHERE text LIKE '%zanzibar%'") == []
        assert len(await memory.rows("SELECT 1 FROM notes")) == 4
    assert read(project, "state") == STATE.replace(STATE[STATE.index("Written") : STATE.index("\n- The giraffe")], "")
    assert Path(project.file("state")).stat().st_mode == mode
    assert read(project, "todo") == "- [ ] rest\n"
    assert read(project, "archive/2026-10") == "<!-- archived 2026-10-01 (budget) -->\n## from todo\n- old\n"
    assert os.listdir(project.inbox) == ["two.txt"]
    assert Path(project.inbox, "two.txt").read_text() == "- keep this\n"
    assert holders(tmp_path, "zanzibar") == []


async def test_entries_that_cite_a_forgotten_event_its_summary_or_its_fact_go(tmp_path: Path) -> None:
    project = register(tmp_path)
    async with opened(tmp_path) as memory:
        event = await tell(memory, "Use the red barn")
        other = await tell(memory, "And sleep", sessionId="second")
        await memory.ask("drain")
        (summary, *_), (untouched, *_) = [
            [row[0] for row in await memory.rows("SELECT id FROM summaries WHERE event_id = ?", each)]
            for each in (event, other)
        ]
        fact = await memory.ask("remember", text=HAY, typed=True)
        put(
            project,
            decisions=f"- one (person, 2026-11-25, e{event})\n- two (s{summary})\n- three (s{untouched})\n",
            mistakes=f"### 2026-11-25 — The barn fell\n- Symptom: dust (e{event})\n- Cause: wind\n\n{OTHER}",
            todo=f"- [ ] feed them ({fact['id']})\n- [x] OKAPIS  eat hay at seven\n- [ ] rest (m999)\n",
        )
        await memory.ask("forget", ids=[f"s{summary}"], dryRun=False)
        assert read(project) == f"- three (s{untouched})\n"
        assert read(project, "mistakes") == f"\n{OTHER}"
        await memory.ask("forget", ids=[fact["id"]], dryRun=False)
        assert read(project, "todo") == "- [ ] rest (m999)\n"


async def test_a_forgotten_session_file_and_time_leave_the_notes(tmp_path: Path) -> None:
    project = register(tmp_path)
    async with opened(tmp_path) as memory:
        edited = {"tool_input": {"file_path": "/src/barn.py"}, "tool_response": {}}
        one = await memory.capture(1, sessionId="other")
        two = await memory.capture(2, tool="Edit", payload=edited)
        three = await memory.capture(3, ts=NOW - 9 * DAY)
        four = await memory.capture(4)
        put(project, state=f"- a (e{one})\n- b (e{two})\n- c (e{three})\n- d (e{four})\n")
        await memory.ask("forget", session="other", dryRun=False)
        assert read(project, "state") == f"- b (e{two})\n- c (e{three})\n- d (e{four})\n"
        await memory.ask("forget", file="barn.py", dryRun=False)
        assert read(project, "state") == f"- c (e{three})\n- d (e{four})\n"
        await memory.ask("forget", until=NOW - 5 * DAY, dryRun=False)
        assert read(project, "state") == f"- d (e{four})\n"


async def test_what_is_noted_beside_the_notes_loses_it_too(tmp_path: Path) -> None:
    project = register(tmp_path)
    put(project, state="# State\n")
    own = state_of(project, tmp_path)
    Path(own.last).write_text(json.dumps({"trigger": "manual", "summary": "zanzibar moved"}))
    lines = [
        {"key": "fact:9", "line": "- Zanzibar"},
        {"key": "answer:e5:Is it Zanzibar?", "line": "- yes"},
        {"key": "fact:8", "line": ""},
    ]
    Path(own.written).write_text(json.dumps({"version": 1, "lines": lines}))
    Path(project.claimed).mkdir()
    Path(project.claimed, "one.md").write_text("zanzibar")
    Path(project.folder, ".state.md.siftd").write_text("zanzibar")
    dropped = Path(project.inbox, ".x.md.new")
    dropped.write_text("zanzibar")
    os.utime(dropped, (1, 1))
    async with opened(tmp_path) as memory:
        answer = await memory.ask("forget", query="zanzibar", dryRun=False)
        assert (answer["pending"], answer["byKind"]["note"]) == ([], 1)
    assert json.loads(Path(own.last).read_text()) == {"trigger": "manual", "summary": ""}
    assert json.loads(Path(own.written).read_text()) == {"version": 1, "lines": lines[2:]}
    assert holders(tmp_path, "zanzibar") == []


async def test_what_the_built_in_distil_has_written_of_it_goes_and_does_not_come_back(tmp_path: Path) -> None:
    """It knows what it looked at by keys, which name events and facts and quote what was asked."""
    clock = SystemClock()
    around = Surroundings(Home(str(tmp_path / "home")), Settings(), {}, str(tmp_path / "person"), clock)
    async with opened(tmp_path, Hands(clock.now_ms())) as memory:
        project = scaffold.init(str(tmp_path), around).project
        own = state_of(project, tmp_path)
        said = {"type": "decision", "typed": True}
        hay = await memory.ask("remember", text="Okapis eat hay, because it is dry", **said)
        await memory.ask("remember", text="Zebras eat grass, because it is green", **said)
        assert sync(project, around, trigger="manual").status == "done"
        assert "Okapis eat hay" in read(project)
        assert f'"fact:{hay["memoryId"]}"' in Path(own.written).read_text()
        await memory.ask("forget", ids=[hay["id"]], dryRun=False)
        assert "Zebras eat grass" in read(project)
        assert f'"fact:{hay["memoryId"]}"' not in Path(own.written).read_text()
        assert holders(tmp_path, "okapis eat hay") == []
        sync(project, around, trigger="manual")
        assert "Zebras eat grass" in read(project)
        assert holders(tmp_path, "okapis eat hay") == []


async def test_what_a_killed_sync_had_decided_is_written_first_and_then_loses_it(tmp_path: Path) -> None:
    project = register(tmp_path)
    put(project, state="# State\n")
    own = state_of(project, tmp_path)
    after = "# State\n\n- Zanzibar\n- apples\n"
    file = applying.File(project.file("state"), digest_of(b"# State\n"), after)
    plan = applying.Plan([file], {"last.json": json.dumps({"summary": "of Zanzibar"})}, [], "2026-11-25")
    Path(own.journal).write_bytes(msgspec.json.encode(plan))
    async with opened(tmp_path) as memory:
        answer = await memory.ask("forget", query="zanzibar", dryRun=False)
        assert answer["pending"] == []
    assert read(project, "state") == "# State\n\n- apples\n"
    assert json.loads(Path(own.last).read_text()) == {"summary": ""}
    assert not Path(own.journal).exists()
    assert holders(tmp_path, "zanzibar") == []


async def test_whoever_read_before_sees_that_something_was_taken_out(tmp_path: Path) -> None:
    """A sync that thinks while something is forgotten must not write it afterwards."""
    project = register(tmp_path)
    own = state_of(project, tmp_path)
    async with opened(tmp_path) as memory:
        before = mark_of(own)
        event = await memory.capture(1)
        assert mark_of(own) == before
        await memory.ask("forget", ids=[f"e{event}"], dryRun=False)
        after = mark_of(own)
        assert after != before
        await memory.ask("forget", query="nothing of it", dryRun=False)
        assert mark_of(own) != after


async def test_notes_that_a_sync_writes_are_told_and_done_at_a_later_tick(tmp_path: Path) -> None:
    project = register(tmp_path)
    put(project, state="- Zanzibar\n- apples\n")
    own = state_of(project, tmp_path)
    async with opened(tmp_path) as memory:
        await memory.capture(1)
        descriptor = os.open(own.lock, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            answer = await memory.ask("forget", query="zanzibar", dryRun=False)
            assert answer["pending"] == [f"{project.folder}, which a sync of the notes writes just now"]
            assert (await memory.ask("info"))["forget"]["pending"] == answer["pending"]
            assert is_pending(own), "no sync begins"
            await memory.services.consolidator.tick()
            assert await memory.rows("SELECT text FROM notes") == [("- apples",)], "what is to go is not found again"
        finally:
            os.close(descriptor)
        await memory.services.consolidator.tick()
        assert not is_pending(own)
        assert read(project, "state") == "- apples\n"
        assert (await memory.ask("info"))["forget"]["pending"] == []


async def test_who_waits_for_a_reader_of_the_database_disturbs_no_sync(tmp_path: Path) -> None:
    project = register(tmp_path)
    put(project, state="- Zanzibar\n- apples\n")
    own = state_of(project, tmp_path)
    async with opened(tmp_path) as memory:
        await memory.capture(1)
        with closing(sqlite3.connect(memory.services.paths.database, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM events").fetchone()
            answer = await memory.ask("forget", query="zanzibar", dryRun=False)
            assert "a reader of the database" in answer["pending"][0]
            assert read(project, "state") == "- apples\n"
            mark = mark_of(own)
            await memory.services.consolidator.tick()
            assert (mark_of(own), is_pending(own)) == (mark, False)
        await memory.services.consolidator.tick()
        assert (await memory.ask("info"))["forget"]["pending"] == []
        assert mark_of(own) == mark


async def test_a_file_that_cannot_be_written_is_told_and_taken_up_by_the_next_daemon(tmp_path: Path) -> None:
    """It knows no word of what was forgotten: keyed hashes name the entries."""
    project = register(tmp_path)
    put(project, state="- Zanzibar\n- apples\n", todo="- zanzibar\n")
    Path(project.file("state")).chmod(0o444)
    async with opened(tmp_path) as memory:
        answer = await memory.ask("forget", query="zanzibar", dryRun=False)
        assert answer["pending"] == [f"{project.folder}/state.md (Permission denied)"]
        assert read(project, "todo") == ""
        await memory.services.consolidator.tick()
    assert holders(tmp_path, "zanzibar") == [str(Path(project.file("state")).relative_to(tmp_path))]
    Path(project.file("state")).chmod(0o644)
    async with opened(tmp_path) as memory:
        assert read(project, "state") == "- apples\n"
        assert (await memory.ask("info"))["forget"]["pending"] == []
        assert await memory.rows("SELECT 1 FROM tombstones WHERE kind = 'note'") == []


async def test_who_writes_a_forgotten_line_anew_keeps_it(tmp_path: Path) -> None:
    project = register(tmp_path)
    put(project, state="- Zanzibar\n")
    async with opened(tmp_path) as memory:
        event = await memory.capture(1)
        await memory.ask("forget", query="zanzibar", dryRun=False)
        put(project, state="- Zanzibar\n")
        await memory.ask("forget", ids=[f"e{event}"], dryRun=False)
        assert read(project, "state") == "- Zanzibar\n"


async def test_the_age_of_events_takes_nothing_out_of_notes(tmp_path: Path) -> None:
    project = register(tmp_path)
    async with opened(tmp_path, store_keepDays=1) as memory:
        old = await memory.capture(1, ts=NOW - 9 * DAY)
        for number in range(9):
            await memory.capture(number, ts=NOW)
        put(project, decisions=f"- decided (e{old})\n")
        assert (await memory.ask("prune"))["events"] == 1
        assert read(project) == f"- decided (e{old})\n"


async def test_notes_of_a_project_that_is_excluded_by_now_lose_it_too(tmp_path: Path) -> None:
    project = register(tmp_path)
    put(project, state="- Zanzibar\n- apples\n")
    with registry.changing(Home(str(tmp_path / "home"))) as known:
        known.projects, known.excluded = [], [project.path]
    async with opened(tmp_path) as memory:
        await memory.services.consolidator.do(NOTES)
        assert await memory.rows("SELECT 1 FROM notes") == []
        assert (await memory.ask("forget", query="zanzibar", dryRun=False))["byKind"]["note"] == 1
    assert read(project, "state") == "- apples\n"


async def test_other_workspaces_notes_stay(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = register(tmp_path, path=tmp_path / "other", key="another-workspace")
    put(other, state="- Zanzibar (e1)\n")
    async with opened(tmp_path) as memory:
        await memory.capture(1)
        answer = await memory.ask("forget", query="zanzibar", dryRun=False)
        assert answer["byKind"]["note"] == 0
        await memory.ask("forget", ids=["e1"], dryRun=False)
    assert read(other, "state") == "- Zanzibar (e1)\n"


async def test_what_was_kept_for_every_project_leaves_the_notes_of_all_where_they_cite_or_say_it(
    tmp_path: Path,
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (tmp_path / "other").mkdir()
    other = register(tmp_path, path=tmp_path / "other", key="another-workspace")
    async with opened(tmp_path, key=GLOBAL) as memory:
        fact = await memory.ask("remember", text=HAY, typed=True)
        number = fact["memoryId"]
        put(other, state=f"- one (g{number})\n- two (m{number})\n- okapis eat hay at seven\n- hay, {secret}\n")
        await memory.ask("scrub", dryRun=False)
        await memory.ask("forget", query="hay", dryRun=False)
    assert read(other, "state") == f"- two (m{number})\n- hay, {secret}\n"


async def test_what_git_has_committed_is_told_and_stays(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    project = register(tmp_path, in_tree=True)
    put(project, state="- Zanzibar\n")
    async with opened(tmp_path) as memory:
        answer = await memory.ask("forget", query="zanzibar", dryRun=False)
        assert answer["left"] == [f"what git has committed of {project.folder}, which is git's"]
        assert (await memory.ask("forget", query="zanzibar", dryRun=True))["left"] == []


async def test_a_file_that_is_too_long_for_notes_is_told(tmp_path: Path) -> None:
    project = register(tmp_path)
    put(project, state="")
    os.truncate(project.file("state"), ARCHIVE_BYTES_MAX + 1)
    async with opened(tmp_path) as memory:
        answer = await memory.ask("forget", query="zanzibar", dryRun=True)
        assert answer["left"] == [f"{project.folder}/state.md, which is too long for notes"]


async def test_a_link_is_not_followed_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    project = register(tmp_path, in_tree=True)
    outside = tmp_path / "outside.md"
    outside.write_text("- Zanzibar\n")
    Path(project.folder, "state.md").symlink_to(outside)
    Path(project.folder, "inbox", "one.md").symlink_to(outside)
    async with opened(tmp_path) as memory:
        assert (await memory.ask("forget", query="zanzibar", dryRun=False))["pending"] == []
    assert outside.read_text() == "- Zanzibar\n"


async def test_nothing_is_forgotten_while_nobody_can_say_which_projects_have_notes(tmp_path: Path) -> None:
    register(tmp_path)
    Path(registry_file(Home(str(tmp_path / "home")))).write_text('{"version": 99}')
    async with opened(tmp_path) as memory:
        event = await memory.capture(1)
        with pytest.raises(SiftdError, match="newer siftd"):
            await memory.ask("forget", ids=[f"e{event}"], dryRun=False)
        assert await memory.rows("SELECT count(*) FROM events") == [(1,)]


async def test_a_scrub_hides_what_it_would_hide_anywhere_in_notes_and_says_how_many_files(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    project = register(tmp_path)
    put(project, state=f"- The token is {secret}\n- apples\n")
    own = state_of(project, tmp_path)
    Path(own.last).write_text(json.dumps({"summary": f"with {secret}"}))
    async with opened(tmp_path) as memory:
        assert (await memory.ask("scrub", dryRun=True))["changed"]["notes"] == 2
        assert (await memory.ask("scrub", dryRun=False))["changed"]["notes"] == 2
        assert "notes" not in (await memory.ask("scrub", dryRun=True))["changed"]
    assert read(project, "state").startswith("- The token is [REDACTED:github-token:")
    assert read(project, "state").endswith("\n- apples\n")
    assert holders(tmp_path, secret) == []


async def test_what_a_session_hides_is_hidden_in_notes_in_the_lines_that_hold_it(tmp_path: Path) -> None:
    secret = "Tulip-Garden42"
    project = register(tmp_path)
    put(project, state=f"- we log in with {secret}\n- mail marta@example.org\n")
    named = {"tool_input": {"command": f"export DB_PASSWORD='{secret}'"}, "tool_response": {"stdout": ""}}
    async with opened(tmp_path) as memory:
        await memory.services.consolidator.do(NOTES)
        await memory.capture(1, payload=named)
        await memory.services.consolidator.do(HIDE)
        assert await memory.rows("SELECT 1 FROM notes WHERE text LIKE '%Tulip%'") == []
    assert read(project, "state").startswith("- we log in with [REDACTED:session-value:")
    assert read(project, "state").endswith("\n- mail marta@example.org\n")
    assert holders(tmp_path, secret) == []


async def test_a_store_that_is_rebuilt_takes_no_line_that_was_written_again(tmp_path: Path) -> None:
    """Its log has every wish that there ever was."""
    project = register(tmp_path)
    put(project, state="- Zanzibar\n- apples\n")
    async with opened(tmp_path) as memory:
        await memory.ask("forget", query="zanzibar", dryRun=False)
        put(project, state="- Zanzibar\n")
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert (await memory.ask("info"))["forget"]["pending"] == []
        assert await memory.rows("SELECT 1 FROM tombstones WHERE kind = 'note'") == []
        await memory.services.consolidator.tick()
    assert read(project, "state") == "- Zanzibar\n"


async def test_a_wish_that_nobody_knows_any_more_keeps_no_sync_waiting(tmp_path: Path) -> None:
    """A daemon was killed between what it announced and the log."""
    own = state_of(register(tmp_path), tmp_path)
    change_mark(own)
    async with opened(tmp_path) as memory:
        await memory.services.consolidator.tick()
    assert not is_pending(own)
