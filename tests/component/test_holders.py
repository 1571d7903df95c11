"""Every holder of text is known to the one procedure that takes text out of all of them."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from fnmatch import fnmatchcase
from pathlib import Path

from opened_memory import DAY, Hands, opened

from siftd.clock import SystemClock
from siftd.config import Settings
from siftd.daemon.erasure.procedure import HOLDERS, SNAPSHOTS, WITHOUT_TEXT
from siftd.notes import erasing as notes_erasing
from siftd.notes import files, scaffold
from siftd.notes.erasing import BOOKS
from siftd.notes.layout import Bookkeeping
from siftd.notes.surroundings import Surroundings
from siftd.notes.sync import sync
from siftd.store import scrubbing
from siftd.store.erasing import TEXT_TABLES, TEXTLESS_TABLES
from siftd.store.migrate import migrate
from siftd.workspace.paths import Home

SHADOW = re.compile(r"_(?:fts|trigrams)_(?:config|content|data|docsize|idx)$")
KNOWN = [*(each for holder in HOLDERS for each in holder.files), *SNAPSHOTS, *WITHOUT_TEXT]


async def test_every_file_of_a_workspace_is_of_a_holder_or_without_text(tmp_path: Path) -> None:
    """A new file fails here until it is in `HOLDERS`, or somebody says why nothing is to be taken out of it."""
    clock = Hands()
    async with opened(tmp_path, clock) as memory:
        folder = Path(memory.services.paths.folder)
        for number in range(3):
            await memory.capture(number, tool="UserPromptSubmit", payload={"prompt": f"part {number}"})
        await memory.ask("drain")
        await memory.services.injector.keep()
        await memory.services.committer.seal_log()
        clock.at += 2 * DAY
        await memory.services.consolidator.tick()
        (folder / "spool").mkdir(exist_ok=True)
        (folder / "spool" / "1-a.bad").write_bytes(b"x")
        files = [str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()]
    files += [str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()]
    assert len(files) > 6
    assert {each for each in files if not any(fnmatchcase(each, known) for known in KNOWN)} == set()


async def test_every_file_of_a_projects_notes_is_a_holder_or_without_text(tmp_path: Path) -> None:
    """A new one fails here until forgetting takes text out of it, or somebody says why there is none."""
    clock = SystemClock()
    around = Surroundings(Home(str(tmp_path / "home")), Settings(), {}, str(tmp_path / "person"), clock)
    async with opened(tmp_path, Hands(clock.now_ms())) as memory:
        project = scaffold.init(str(tmp_path), around).project
        await memory.ask("remember", text="Okapis eat hay, because it is dry", type="decision", typed=True)
        Path(project.inbox, "one.md").write_text("Okapis sleep")
        assert sync(project, around, trigger="manual").status == "done"
        Path(project.inbox, "two.md").write_text("Okapis sleep again")
        await memory.ask("forget", query="nothing of it", dryRun=False)
    books = Bookkeeping(around.home, project.id)
    paths = {name: getattr(books, name) for name, each in vars(Bookkeeping).items() if isinstance(each, property)}
    named = {Path(path).name for path in paths.values()} | {each.name for each in Path(books.folder).iterdir()}
    assert named - {*BOOKS, *notes_erasing.WITHOUT_TEXT} == {"files"}
    with files.opened(project.folder) as folder:
        assert folder is not None
        holders = {*folder.notes(), *folder.dropped()}
    there = {str(each.relative_to(project.folder)) for each in Path(project.folder).rglob("*") if each.is_file()}
    assert there - holders == {".model/CLAUDE.md"}, "words of ours alone"
    assert "inbox/two.md" in holders


def test_every_table_with_text_is_of_the_rows_that_are_erased_or_says_why_not() -> None:
    """A new table, or a new column of text, fails here until forgetting and scrubbing know it."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, 1)
        texts = set(scrubbing.text_columns(connection))
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = {name for (name,) in found if not (name.startswith("sqlite_") or SHADOW.search(name))}
    assert tables - TEXT_TABLES.keys() - TEXTLESS_TABLES.keys() == set()
    assert (TEXT_TABLES.keys() | TEXTLESS_TABLES.keys()) - tables == set(), "no table is named that is not there"
    assert texts - TEXT_TABLES.keys() - TEXTLESS_TABLES.keys() == set()
