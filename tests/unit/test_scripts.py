"""The scripts that no suite runs whole: each can at least be loaded, whatever moved beneath it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"
PROGRAMS = [each.stem for each in sorted(SCRIPTS.glob("*.py")) if '__name__ == "__main__"' in each.read_text()]


@pytest.mark.slow
def test_every_script_finds_what_it_imports() -> None:
    """All in one process: a quarter of a second each would be theirs otherwise."""
    done = subprocess.run(
        [sys.executable, "-c", f"import {', '.join(PROGRAMS)}"], cwd=SCRIPTS, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert {"bench", "fuzz", "soak"} <= set(PROGRAMS)
