"""Each kind of request has one handler, which holds the services that it uses and no others."""

from __future__ import annotations

from pathlib import Path

import pytest
from opened_memory import opened

from siftd.daemon import handlers
from siftd.daemon.handlers.router import Handlers
from siftd.daemon.saved_brief import drop_briefs_that_quote
from siftd.wire import requests
from siftd.workspace.paths import GLOBAL, Home

AT_ONCE = {requests.Hello, requests.Capture}
"""Answered before the services are there."""


async def test_each_request_has_its_handler(tmp_path: Path) -> None:
    async def stop(_: bool) -> None:
        """Nobody asks."""

    async with opened(tmp_path) as memory:
        answered = Handlers(memory.services, stop).by_kind
    assert {*answered} == {*requests.Request.__subclasses__()} - AT_ONCE


@pytest.mark.parametrize("module", sorted(Path(handlers.__path__[0]).glob("*.py")), ids=lambda path: path.stem)
def test_only_the_router_holds_all_services(module: Path) -> None:
    assert module.stem == "router" or "Services" not in module.read_text(encoding="utf-8")


def test_a_request_is_answered_in_one_place() -> None:
    marks = [
        line.strip()
        for module in Path(handlers.__path__[0]).glob("*.py")
        for line in module.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith(("@answers(", "@answers_at_length("))
    ]
    assert len(marks) == len(set(marks)) == len(requests.Request.__subclasses__()) - len(AT_ONCE)


@pytest.mark.parametrize(("key", "left"), [(GLOBAL, []), ("0123456789abcdef", ["brief", "brief.other"])])
def test_a_changed_memory_for_every_project_leaves_no_brief_that_quotes_it(
    tmp_path: Path, key: str, left: list[str]
) -> None:
    """Nor one that is printed otherwise for another client."""
    home = Home(str(tmp_path))
    folder = Path(home.for_workspace("fedcba9876543210").folder)
    folder.mkdir(parents=True)
    for name in ("brief", "brief.other"):
        (folder / name).write_text("m1\n")
    drop_briefs_that_quote(home.for_workspace(key))
    assert sorted(each.name for each in folder.iterdir()) == left
