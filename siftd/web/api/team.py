"""Routes about the team of a project; they join and share nothing."""

from __future__ import annotations

from siftd.web.routing import Call
from siftd.wire.asking import TeamItems, TeamPreview, TeamStatus
from siftd.wire.requests import TeamItemsAnswer, TeamPreviewAnswer, TeamStatusAnswer


def state(call: Call) -> TeamStatusAnswer:
    return call.state.projects.ask(call.path["project"], TeamStatus(ask=call.query.ask))


def preview(call: Call) -> TeamPreviewAnswer:
    return call.state.projects.ask(call.path["project"], TeamPreview())


def items(call: Call) -> TeamItemsAnswer:
    return call.state.projects.ask(call.path["project"], TeamItems(after=call.query.after))
