"""Every holder of text is known to the one procedure that takes text out of all of them."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from fnmatch import fnmatchcase
from pathlib import Path

from opened_memory import DAY, Hands, opened

from siftd.daemon.erasure.procedure import HOLDERS, SNAPSHOTS, WITHOUT_TEXT
from siftd.store import scrubbing
from siftd.store.erasing import TEXT_TABLES, TEXTLESS_TABLES
from siftd.store.migrate import migrate

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
