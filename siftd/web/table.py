"""Every route of the API. What guards, describes and tests them is made from this list."""

from __future__ import annotations

from siftd.web.api import finding, serving
from siftd.web.routing import Route
from siftd.web.types import (
    CodeAnswer,
    EndAnswer,
    HealthAnswer,
    InjectionsQuery,
    ItemAnswer,
    MemoriesQuery,
    ProjectsAnswer,
    SearchQuery,
    SessionsQuery,
    TimelineQuery,
    WhyAnswer,
)
from siftd.wire.requests import (
    InfoAnswer,
    InjectionsAnswer,
    MemoriesAnswer,
    MemoryHealthAnswer,
    SearchAnswer,
    SessionsAnswer,
    TimelineAnswer,
)

_ONE = "/api/projects/{project}"

ROUTES = (
    Route("GET", "/health", "Whether the process listens", finding.health, HealthAnswer),
    Route("GET", "/api/projects", "Every workspace that has a memory here", finding.projects, ProjectsAnswer),
    Route("GET", f"{_ONE}/info", "The state of everything", finding.info, InfoAnswer),
    Route("GET", f"{_ONE}/memory/search", "Find", finding.search, SearchAnswer, SearchQuery),
    Route("GET", f"{_ONE}/memory/health", "The memories as a whole", finding.memory_health, MemoryHealthAnswer),
    Route("GET", f"{_ONE}/sessions", "The sessions, newest first", finding.sessions, SessionsAnswer, SessionsQuery),
    Route("GET", f"{_ONE}/timeline", "What happened, in order", finding.timeline, TimelineAnswer, TimelineQuery),
    Route("GET", f"{_ONE}/items/{{id}}", "One thing whole", finding.item, ItemAnswer),
    Route("GET", f"{_ONE}/memories", "The memories that hold", finding.memories, MemoriesAnswer, MemoriesQuery),
    Route("GET", f"{_ONE}/injections", "What agents were given", finding.injections, InjectionsAnswer, InjectionsQuery),
    Route("GET", f"{_ONE}/why/{{id}}", "Why a piece was given, or a memory is held", finding.why, WhyAnswer),
    Route("POST", "/api/codes", "A code that logs a page in", serving.code, CodeAnswer, status=201),
    Route("POST", "/api/end", "End the process that serves this", serving.end, EndAnswer),
)
