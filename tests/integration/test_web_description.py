"""The API keeps what /openapi.json says of it: schemathesis asks the real process what fits, and what does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from daemons import Place
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.generation import GenerationMode
from web_page import Page, serving

from siftd.web.openapi import describe
from siftd.web.table import ROUTES

EXAMPLES = 12
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
ASKED = [(route.method, route.path) for route in ROUTES if route.path != "/api/end"]
"""All but the one that ends the process."""


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    place = Place()
    try:
        place.start()
        for number in range(12):
            place.capture(number)
        place.ask("drain")
        place.ask("remember", text="The job queue runs on Postgres LISTEN/NOTIFY")
        patches = {
            "siftd.web.limits.READS": 10**6,
            "siftd.web.limits.WRITES": 10**6,
            "siftd.web.limits.STRANGERS": 10**6,
        }
        with serving(place, patches=patches) as served:
            yield served
    finally:
        place.end()


def test_the_description_lists_every_route(page: Page) -> None:
    said = page.ask("GET", "/openapi.json").json
    assert said == describe(ROUTES)
    listed = {(method.upper(), path) for path, methods in said["paths"].items() for method in methods}
    assert listed == {(route.method, route.path) for route in ROUTES}
    operations = [each["operationId"] for methods in said["paths"].values() for each in methods.values()]
    assert len(set(operations)) == len(operations)


@pytest.mark.parametrize("asked", ASKED, ids=" ".join)
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_each_route_answers_as_described(page: Page, asked: tuple[str, str], mode: Any) -> None:
    method, path = asked
    schema = schemathesis.openapi.from_dict(describe(ROUTES))
    schema.config.base_url = f"http://{page.host}"
    operation = schema[path][method]

    @settings(max_examples=EXAMPLES, database=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        if "project" in (case.path_parameters or {}) and mode is GenerationMode.POSITIVE:
            case.path_parameters["project"] = page.key
        case.call_and_validate(headers={"authorization": f"Bearer {page.token}"}, checks=CHECKS, timeout=60)

    check()
