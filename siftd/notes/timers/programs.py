"""Running the programs of a scheduler: found on the person's PATH, ended when they hang, read without a terminal."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

SECONDS = 30.0
"""After which a program is ended: one that waits for a manager that does not answer would keep a person waiting."""


def has_program(name: str, environ: Mapping[str, str]) -> bool:
    """Whether a program is on the PATH. Nothing is run."""
    return shutil.which(name, path=environ.get("PATH", os.defpath)) is not None


def run_program(
    argv: Sequence[str], environ: Mapping[str, str], given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run one to its end and return what it said, in the language of the system (`LC_ALL=C`).

    Raises OSError where it cannot be run, and TimeoutExpired.
    """
    program = shutil.which(argv[0], path=environ.get("PATH", os.defpath))
    if program is None:
        raise FileNotFoundError(2, "it is not there", argv[0])
    return subprocess.run(
        [program, *argv[1:]],
        env={**environ, "LC_ALL": "C"},
        input=given,
        capture_output=True,
        timeout=SECONDS,
        check=False,
        cwd="/",
    )
