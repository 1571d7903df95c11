"""What the daemon is at work on, where the next start finds it: what kills it once must not kill it for ever.

    <workspace>/at-work        a line of fixed length for each kind of work: `summarise 12 13 14`, blank when it is
                               done. Written before the work, not synced: it has to outlive the process only
    <workspace>/suspects.json  {"event": {"12": 1}}: how many starts have found it at work

What a start finds once is worked on alone from then on, so that another death names it; what is found twice is
condemned: its work is left out, and told. Innocent ones are acquitted as soon as their work is done. Only ids and file
names are in these files, never captured text.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from siftd.workspace.home import write_private
from siftd.workspace.paths import WorkspacePaths

SUBJECTS = {
    "replay": "record",
    "take": "spool file",
    "index": "event",
    "summarise": "event",
    "embed": "text",
    "chunk": "document",
    "embed-chunk": "chunk",
    "embed-name": "name",
    "embed-team": "team item",
}
"""The kinds of work, and what each is about. A condemned event is neither indexed nor summarised."""
DEATHS_MAX = 2
_LINE_BYTES = 1024
_LINES = {work: number for number, work in enumerate(SUBJECTS)}


class CrashGuard:
    """The marks of one workspace. Of each kind of work one piece is done at a time."""

    def __init__(self, paths: WorkspacePaths | None = None) -> None:
        """Take up what the last daemon left: what it died of is suspect. Without `paths` nothing is kept."""
        self._suspects: dict[str, dict[str, int]] = {}
        self._paths = paths
        if paths is not None:
            self._file = os.open(paths.crash_guard, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            self._take_up(paths)

    def _take_up(self, paths: WorkspacePaths) -> None:
        self._suspects = _read_suspects(Path(paths.suspects))
        found = _found(os.pread(self._file, _LINE_BYTES * len(_LINES), 0))
        for work, name in found:
            deaths = self._suspects.setdefault(SUBJECTS[work], {})
            deaths[name] = deaths.get(name, 0) + 1
        if found:
            self._save()
        for work in SUBJECTS:
            self.end(work)

    def begin(self, work: str, names: Sequence[object]) -> None:
        """Say what is worked on from now on. A disk that takes no mark does not stop the work."""
        self._write(work, f"{work} {' '.join(map(str, names))}".encode())

    def end(self, work: str) -> None:
        """Say that the work is over, well or not: the process has survived it."""
        self._write(work, b"")

    @contextlib.contextmanager
    def on(self, work: str, names: Sequence[object]) -> Iterator[None]:
        """Mark the work within; what is done without a fault is acquitted."""
        self.begin(work, names)
        try:
            yield
            self.clear(work, names)
        finally:
            self.end(work)

    def is_quarantined(self, work: str, name: object) -> bool:
        """Whether two starts have found this at work."""
        return self._suspects.get(SUBJECTS[work], {}).get(str(name), 0) >= DEATHS_MAX

    def count_quarantined(self, work: str) -> int:
        return sum(count >= DEATHS_MAX for count in self._suspects.get(SUBJECTS[work], {}).values())

    def clear(self, work: str, names: Sequence[object]) -> None:
        """Forget what was suspected of these."""
        suspects = self._suspects.get(SUBJECTS[work], {})
        cleared = [str(name) for name in names if str(name) in suspects] if suspects else []
        for name in cleared:
            del suspects[name]
        if cleared:
            self._save()

    def condemn(self, work: str, name: object) -> None:
        """Leave out, without another try, what has failed for a reason of its own."""
        self._suspects.setdefault(SUBJECTS[work], {})[str(name)] = DEATHS_MAX
        self._save()

    def clear_all(self, work: str) -> None:
        """Forget every suspect of a kind: a person wants them tried again."""
        if self._suspects.pop(SUBJECTS[work], None):
            self._save()

    def split(self, work: str, names: Sequence[int], size: int) -> list[list[int]]:
        """Return `names` in batches of `size`; suspects come last, each alone."""
        suspects = self._suspects.get(SUBJECTS[work], {})
        free = [name for name in names if str(name) not in suspects] if suspects else list(names)
        alone = [[name] for name in names if str(name) in suspects] if suspects else []
        return [free[start : start + size] for start in range(0, len(free), size)] + alone

    def problems(self) -> list[str]:
        """Return a sentence for each kind of thing that is condemned."""
        found = []
        for subject, deaths in sorted(self._suspects.items()):
            names = [name for name, count in deaths.items() if count >= DEATHS_MAX]
            if names:
                listed = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
                found.append(f"left out because it cannot be worked on: {subject} {listed}")
        return found

    def close(self) -> None:
        if self._paths is not None:
            os.close(self._file)

    def _write(self, work: str, line: bytes) -> None:
        if self._paths is not None:
            with contextlib.suppress(OSError):
                whole = line[: _LINE_BYTES - 1].ljust(_LINE_BYTES - 1) + b"\n"
                os.pwrite(self._file, whole, _LINES[work] * _LINE_BYTES)

    def _save(self) -> None:
        if self._paths is not None:
            file = Path(self._paths.suspects)
            with contextlib.suppress(OSError):
                if any(self._suspects.values()):
                    write_private(file, json.dumps(self._suspects).encode())
                else:
                    file.unlink(missing_ok=True)


def _found(data: bytes) -> list[tuple[str, str]]:
    """Return (work, name) of everything that was at work."""
    lines = [line.split() for line in data.decode("utf-8", "replace").splitlines()]
    return [(line[0], name) for line in lines if line and line[0] in SUBJECTS for name in line[1:]]


def _read_suspects(file: Path) -> dict[str, dict[str, int]]:
    try:
        read = json.loads(file.read_bytes())
        return {str(subject): {str(name): int(n) for name, n in deaths.items()} for subject, deaths in read.items()}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}
