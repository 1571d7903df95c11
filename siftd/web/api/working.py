"""Long work, and how far it is."""

from __future__ import annotations

from typing import Any

from siftd.web.jobs import Report
from siftd.web.routing import Call
from siftd.web.types import JobAnswer
from siftd.wire.asking import Reembed
from siftd.wire.requests import ReembedAnswer

WORK_SECONDS = 900.0
"""The longest silence of a daemon that embeds: one batch of a slow model, behind what it does already."""


def reindex(call: Call) -> JobAnswer:
    """Make every vector of a project anew. The job that runs already is the answer where one does."""
    projects, project = call.state.projects, call.path["project"]
    projects.client(project)

    def work(report: Report) -> dict[str, Any]:
        def on_progress(said: dict[str, Any]) -> None:
            report(said["done"], said["total"])

        answer: ReembedAnswer = projects.ask(project, Reembed(), timeout=WORK_SECONDS, on_progress=on_progress)
        report(answer["embedded"], answer["embedded"])
        return {**answer}

    return call.state.jobs.begin(project, work)


def job(call: Call) -> JobAnswer:
    return call.state.jobs.get(call.path["job"])
