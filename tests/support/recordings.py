"""What real agents' programs once told: a line for each hook (`at`, `stdin`), and the session files of the same run."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).resolve().parents[1] / "data"
PROJECT = "/home/dev/project"
"""Where the recorded agents worked."""


class Recording(NamedTuple):
    """One client's, as if its agents had worked in a folder of the test's."""

    root: str
    home: Path
    """The client's own folder."""
    inputs: list[bytes]
    times: list[int]


def recording_of(client: str, folder: Path, injected: dict[str, str] | None = None) -> Recording:
    """Return a client's recording, in `folder`. `injected` says what stands in place of what hooks had printed."""
    root, home = folder / "work", folder / "home"
    root.mkdir()
    changes = {PROJECT: str(root)} | (injected or {})
    shutil.copytree(DATA / client / "home", home)
    for file in home.rglob("*"):
        if file.is_file():
            file.write_text(_changed(file.read_text(), changes, is_json=file.suffix != ".project_root"))
            os.utime(file, (1, 1))  # it grows no more
    lines = [json.loads(line) for line in (DATA / client / "hooks.jsonl").read_text().splitlines()]
    inputs = [_changed(json.dumps(each["stdin"], ensure_ascii=False), changes, is_json=True).encode() for each in lines]
    return Recording(str(root), home, inputs, [each["at"] for each in lines])


def _changed(text: str, changes: dict[str, str], *, is_json: bool) -> str:
    for old, new in changes.items():
        text = text.replace(old, json.dumps(new)[1:-1] if is_json else new)
    return text
