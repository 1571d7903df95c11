"""The lines of docs/api.md do what they say."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from daemons import CHECKOUT, Place
from web_page import serving

DOCUMENT = (CHECKOUT / "docs" / "api.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", DOCUMENT, re.DOTALL)


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_the_documented_lines_work_one_after_the_other(place: Place) -> None:
    place.start()
    place.capture(1)
    place.ask("drain")
    with serving(place):
        script = "set -eu\n" + "\necho\necho ---\n".join(BLOCKS)
        done = subprocess.run(["sh", "-c", script], env=place.env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout, done.stderr)
    parts = [part.strip() for part in done.stdout.split("---")]
    assert len(parts) == len(BLOCKS)
    answers = [[json.loads(line) for line in re.sub(r"\}\{", "}\n{", part).splitlines() if line] for part in parts]
    assert [len(each) for each in answers] == [0, 1, 1, 1, 3, 1, 1, 1]
    assert answers[3][0]["id"].startswith("m")
    assert answers[5][0]["matched"] == 1
    assert answers[7][0]["openapi"].startswith("3.1")


def test_the_documented_routes_are_the_ones_that_are_there() -> None:
    from siftd.web.table import ROUTES

    paths = {re.sub(r"\{\w+\}", ":id", route.path) for route in ROUTES}
    named = set(re.findall(r"`(?:GET |POST |DELETE )?((?:/|…/)[\w/:…-]+)", DOCUMENT.partition("## Refusals")[0]))
    full = {each.replace("…", "/api/projects/:id") for each in named}
    assert full - {"/api/projects/:id/events", "/ws", "/mcp"} <= paths
    internal = {"/health", "/api/codes", "/api/end"}
    assert paths - full == internal


def test_the_document_is_named_on_the_first_page() -> None:
    assert "docs/api.md" in Path(CHECKOUT / "README.md").read_text(encoding="utf-8")
