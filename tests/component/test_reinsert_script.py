"""The script that the README shows: the log is enough to insert again what was deleted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from opened_memory import opened

SCRIPT = Path(__file__).parents[2] / "scripts" / "reinsert.py"
EVERYTHING = "SELECT id, ts, session_id, tool, input_hash, payload_json, uid FROM events ORDER BY id"


async def test_the_script_inserts_again_what_was_deleted_by_hand(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        for number in range(4):
            await memory.capture(number)
            if number == 1:
                await memory.services.committer.seal_log()
                await memory.services.maintenance.run()
        before = await memory.rows(EVERYTHING)
        await memory.by_hand("DELETE FROM events WHERE id IN (1, 4)")
        folder = memory.services.paths.folder
    for _ in range(2):
        subprocess.run([sys.executable, str(SCRIPT), folder], check=True)
    async with opened(tmp_path) as memory:
        assert await memory.rows(EVERYTHING) == before


def test_the_script_is_short_enough_to_be_shown() -> None:
    code = [line for line in SCRIPT.read_text().splitlines() if line and not line.startswith(('"""', "import", "from"))]
    assert len(code) <= 10
