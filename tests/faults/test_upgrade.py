"""siftd is upgraded while its daemon runs: what it acknowledged stays, and no two versions are mixed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from daemons import CHECKOUT, Place, RawClient, is_alive, wait_until

from siftd.errors import RequestRefused
from siftd.wire.frames import encode_json

pytestmark = pytest.mark.slow
FROM_A_FOLDER = """
import sys
sys.path.insert(0, sys.argv[1])
import siftd.daemon.upgrade_guard
assert siftd.__file__.startswith(sys.argv[1])
siftd.daemon.upgrade_guard.REST_SECONDS = 0.1
from siftd.__main__ import main
sys.exit(main(["run", "--folder", sys.argv[2], "--set", "memory.consolidator.tickMs=3600000"]))
"""
BROKEN = "raise SystemExit('a module of another version was imported')\n"


@pytest.fixture
def installed(place: Place) -> Path:
    """A copy of siftd that may be upgraded; the daemon of `place` runs from it."""
    folder = place.root / "site"
    for name in ("siftd", "schema"):
        shutil.copytree(CHECKOUT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def start(place: Place, installed: Path) -> subprocess.Popen[bytes]:
    daemon = subprocess.Popen(
        [sys.executable, "-c", FROM_A_FOLDER, str(installed), str(place.folder)],
        env=place.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
    )
    place.daemons.append(daemon)
    wait_until("the daemon answers", place.pid, 30)
    return daemon


def capture_until_it_ends(place: Place, acknowledged: list[int]) -> None:
    with RawClient(place.paths) as client:
        for number in range(1_000_000):
            payload = {"tool_input": {"command": f"make target-{number}"}, "tool_response": {"stdout": "built"}}
            message = {"kind": "capture", "sessionId": "s", "tool": "Bash", "payload": payload, "ts": number}
            client.send(encode_json(message))
            answer = client.answer()
            if answer is None:
                return
            assert answer["ok"], answer["error"]["code"]
            acknowledged.append(answer["eventId"])


def test_a_daemon_imports_nothing_of_another_version_and_ends_in_good_order_while_frames_arrive(
    place: Place, installed: Path
) -> None:
    daemon = start(place, installed)
    place.ask("drain")
    acknowledged: list[int] = []
    client = threading.Thread(target=capture_until_it_ends, args=(place, acknowledged))
    client.start()
    wait_until("captures go on", lambda: len(acknowledged) > 20)
    package = installed / "siftd"
    package.rename(installed / "old")
    shutil.copytree(installed / "old", package)
    (package / "__init__.py").write_text('"""siftd."""\n\n__version__ = "9.9.9"\n')
    (package / "search" / "engine.py").write_text(BROKEN)
    so_far = len(acknowledged)
    wait_until("captures go on with the old one", lambda: len(acknowledged) > so_far + 20)
    with pytest.raises(RequestRefused) as refused:
        place.ask("search", query="target")
    assert refused.value.code == "package_changed"
    wait_until("the daemon has ended", lambda: not is_alive(daemon.pid), 30)
    client.join()
    assert daemon.wait() == 0
    assert not Path(place.paths.socket).exists()
    assert place.log_lines("package_changed")

    shutil.copy(CHECKOUT / "siftd" / "search" / "engine.py", package / "search" / "engine.py")
    start(place, installed)
    assert place.ask("hello")["version"] == "9.9.9"
    ids = [row[0] for row in place.rows("SELECT id FROM events ORDER BY id")]
    assert set(ids) >= set(acknowledged)
    assert len(ids) <= len(acknowledged) + 1, "the last one may have been kept without its answer arriving"
    assert place.ask("search", query="target")["hits"]


def test_an_unchanged_package_is_imported_late_whatever_else_changes(place: Place, installed: Path) -> None:
    """A first import writes bytecode beside the modules, and somebody may edit one that nobody needs any more."""
    daemon = start(place, installed)
    (installed / "siftd" / "daemon" / "commit.py").write_text(BROKEN)
    place.capture(0)
    place.ask("drain")
    assert json.dumps(place.ask("search", query="make target")["hits"]).count("target-0")
    assert is_alive(daemon.pid)
