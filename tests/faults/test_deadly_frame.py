"""A frame that kills every process that takes it in: counted as dropped, and the frames beside it are kept."""

from __future__ import annotations

import importlib
import json
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from daemons import HOOK, Place, tool_call

from siftd.wire.frames import encode_hook
from siftd.workspace.home import ensure_workspace

pytestmark = pytest.mark.slow

DEADLY = """
import os, signal, sys
if "spool" in sys.orig_argv:
    import siftd.log.spool
    whole = siftd.log.spool.Intake.from_hook
    def deadly(intake, message):
        if b"arsenic" in message:
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(intake, message)
    siftd.log.spool.Intake.from_hook = deadly
"""
"""What the interpreter below runs at its start, where it is to be `siftd spool`."""


def make_deadly_python(folder: Path) -> Path:
    """Return an interpreter of its own that has everything this one has, and DEADLY."""
    venv.create(folder, with_pip=False, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    (packages / "deadly.py").write_text(DEADLY)
    ours = [str(Path(__file__).parents[2]), *(each for each in sys.path if each.endswith("site-packages"))]
    (packages / "zz.pth").write_text("\n".join([*ours, "import deadly"]) + "\n")
    return folder / "bin" / "python"


def frame(place: Place, number: int, session: str) -> bytes:
    header = {"client": "claude-code", "frameUid": f"{number:032x}", "root": str(place.folder), "ts": 1_760_000_000_000}
    return encode_hook(json.dumps(header).encode(), json.dumps(tool_call(number, session_id=session)).encode())


def test_a_frame_that_kills_the_spool_costs_no_other(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A courier with time: on a slow machine the real one counts as dropped what its life is too short for."""
    monkeypatch.syspath_prepend(str(HOOK.parent))
    courier = importlib.import_module("courier")
    ensure_workspace(place.paths)
    monkeypatch.chdir(place.paths.home.run)
    monkeypatch.setattr(sys, "executable", str(make_deadly_python(tmp_path / "deadly")))
    frames = [frame(place, number, "arsenic" if number == 1 else "s") for number in range(4)]
    patient = courier.Courier(frames[0], place.paths.home.run, place.paths.key, str(place.folder), place.env)
    patient.born += 60
    patient.frames = frames
    patient.spool()
    assert len(place.spool_files()) == 3
    assert patient.unkept == [frames[1]], "what is counted as dropped, if no daemon has kept it meanwhile"
