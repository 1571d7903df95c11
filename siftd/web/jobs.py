"""Long work that was asked for by HTTP: it goes on while nobody waits, and says how far it is."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from typing import Any

from siftd.errors import HttpRefused, SiftdError
from siftd.web.types import JobAnswer, Problem

RUNNING_MAX = 4
ENDED_MAX = 100
"""Of jobs that are over, those that ended last."""

Report = Callable[[int, int | None], None]


class Jobs:
    """The jobs of one process; they end with it, what they have asked of a daemon goes on there."""

    def __init__(self) -> None:
        self._jobs: dict[str, JobAnswer] = {}
        self._lock = threading.Lock()

    def begin(self, project: str, work: Callable[[Report], dict[str, Any]]) -> JobAnswer:
        """Begin work in a thread. One that runs for this project already is returned instead."""
        with self._lock:
            running = [each for each in self._jobs.values() if each.state == "running"]
            for each in running:
                if each.project == project:
                    return each
            if len(running) >= RUNNING_MAX:
                raise HttpRefused(429, "too_often", "enough is worked on already", hint="wait until a job is over")
            job = JobAnswer(
                id=secrets.token_hex(8), kind="reindex", project=project, state="running", done=0, total=None,
                answer=None, error=None,
            )  # fmt: skip
            self._jobs[job.id] = job
            over = [each.id for each in self._jobs.values() if each.state != "running"]
            for old in over[: max(0, len(over) - ENDED_MAX)]:
                del self._jobs[old]
        threading.Thread(target=self._run, args=(job, work), daemon=True).start()
        return job

    def get(self, job_id: str) -> JobAnswer:
        """Return a job. Raises HttpRefused for one that is not known."""
        found = self._jobs.get(job_id)
        if found is None:
            raise HttpRefused(404, "not_found", "there is no such job", hint="jobs end with the process of `mem web`")
        return found

    @property
    def is_any_running(self) -> bool:
        return any(each.state == "running" for each in list(self._jobs.values()))

    def _run(self, job: JobAnswer, work: Callable[[Report], dict[str, Any]]) -> None:
        def report(done: int, total: int | None) -> None:
            job.done, job.total = done, total

        try:
            job.answer = work(report)
            job.state = "done"
        except SiftdError as error:
            job.error, job.state = Problem(error.code, error.message, error.hint), "failed"
        except Exception as error:  # noqa: BLE001 - a job's boundary: whoever asks is told
            job.error, job.state = Problem("internal", f"it failed ({type(error).__name__})", ""), "failed"
