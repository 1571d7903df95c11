"""What the routes share: the workspaces, the login, long work, what `mem doctor` finds, what happens live."""

from __future__ import annotations

from dataclasses import dataclass

from siftd.web.confirmation import Confirmations
from siftd.web.credentials import Credentials
from siftd.web.examining import Examinations
from siftd.web.jobs import Jobs
from siftd.web.live import Feeds
from siftd.web.projects import Projects


@dataclass(frozen=True, slots=True)
class State:
    """One served process."""

    projects: Projects
    credentials: Credentials
    confirmations: Confirmations
    jobs: Jobs
    examinations: Examinations
    feeds: Feeds
