"""What only the files beside the daemon tell, whether one runs or not: marks, and what was set aside.

Every `mem info` reads them, so this imports next to nothing.
"""

from __future__ import annotations

import os
import time

from siftd.workspace.paths import WorkspacePaths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    from siftd.wire.requests import InfoAnswer

    Marks = TypedDict(  # noqa: UP013 - one key has a word that no identifier may have, and is printed by `--json`
        "Marks",
        {
            "held": bool,
            "failedStarts": int,
            "failedStartTs": int | None,
            "failedStartReason": str,
            "slowMs": int | None,
            "unreadableSpoolFiles": int,
            "corruptLines": int,
            "condemnedRecords": int,
            "foreignSegments": int,
            "tornTails": int,
            "damagedDatabases": int,
        },
    )
    """What files beside the daemon's tell: of starts, and of what was set aside."""

    class MarkerFiles(TypedDict):
        """The marks, and how many captures could not be kept at all."""

        dropped: int
        marks: Marks

    class State(InfoAnswer, MarkerFiles):
        """All that is known of a workspace's memory."""


DROPPED_BYTES = 14
"""What hooks/courier.py adds to `<key>.dropped` for each capture that it cannot keep."""


def read_marker_files(paths: WorkspacePaths) -> MarkerFiles:
    """Return what `mem info` shows beside the daemon's own account."""
    failures, tried_ts, reason = _read_backoff(paths.start)
    quarantined = _names(paths.quarantine)
    return {
        "dropped": _count_dropped(paths.dropped),
        "marks": {
            "held": os.path.exists(paths.hold),  # noqa: PTH110 - pathlib would cost 10 ms at every run
            "failedStarts": failures,
            "failedStartTs": tried_ts,
            "failedStartReason": reason,
            "slowMs": _age_ms(paths.slow),
            "unreadableSpoolFiles": sum(each.endswith(".bad") for each in _names(paths.spool)),
            "corruptLines": sum(each.startswith("corrupt-") for each in quarantined),
            "condemnedRecords": sum(each.startswith("condemned-") for each in quarantined),
            "foreignSegments": sum(each.startswith("foreign-") for each in quarantined),
            "tornTails": sum(each.startswith("torn-") for each in quarantined),
            "damagedDatabases": sum(_is_damaged_database(each) for each in _names(paths.folder)),
        },
    }


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - as above
    except OSError:
        return []


def _is_damaged_database(name: str) -> bool:
    """Whether it is a database that was set aside, and not one of the files beside it."""
    return name.startswith("db.sqlite.damaged-") and name[-1].isdigit()


def _count_dropped(path: str) -> int:
    try:
        return os.stat(path).st_size // DROPPED_BYTES  # noqa: PTH116 - as above
    except OSError:
        return 0


def _read_backoff(path: str) -> tuple[int, int | None, str]:
    """Return (failures in a row, when last, why) of starting the daemon; hooks/courier.py keeps them."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - as above
            failures, at, reason = file.read().split(" ", 2)
        return int(failures), int(at), reason.strip()
    except (OSError, ValueError):
        return 0, None, ""


def _age_ms(path: str) -> int | None:
    try:
        return max(0, int((time.time() - os.stat(path).st_mtime) * 1000))  # noqa: PTH116 - as above
    except OSError:
        return None
