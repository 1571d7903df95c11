"""The team's API keeps what its /openapi.json says: schemathesis asks a real server what fits, and what does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from postgres import NoPostgres, drop_database, make_team_database, running
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.generation import GenerationMode
from team_service import Member, join, team_service

from siftd.team_server.table import ABOUT, ROUTES
from siftd.web.openapi import describe

EXAMPLES = 10
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
ASKED = [(route.method, route.path) for route in ROUTES if not route.is_raw and route.work.__name__ != "leave"]
"""All but what a signature opens, and what would end the asking."""
PATCHES = {
    "siftd.team_server.limits.PER_MINUTE": {each: [1e6, 10**6] for each in ("search", "write", "read", "webhook")},
    "siftd.team_server.limits.STRANGERS_PER_MINUTE": [1e6, 10**6],
}


@pytest.fixture(scope="module")
def ana() -> Iterator[Member]:
    try:
        with running(18) as postgres:
            database = make_team_database(postgres)
            with team_service(database.app, patches=PATCHES) as service:
                ana = join(service, database, "ana", role="admin")
                ana.push(ana.put("The job queue runs on Postgres"))
                yield ana
            drop_database(database)
    except NoPostgres as error:
        pytest.skip(f"NO POSTGRESQL: {error}")


def test_the_description_lists_every_route(ana: Member) -> None:
    said = ana.get("/openapi.json")
    listed = {(method.upper(), path) for path, methods in said["paths"].items() for method in methods}
    assert listed == {(route.method, route.path) for route in ROUTES}
    operations = [each["operationId"] for methods in said["paths"].values() for each in methods.values()]
    assert len(set(operations)) == len(operations)


@pytest.mark.parametrize("asked", ASKED, ids=" ".join)
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_each_route_answers_as_described(ana: Member, asked: tuple[str, str], mode: Any) -> None:
    method, path = asked
    schema = schemathesis.openapi.from_dict(describe(ROUTES, ABOUT))
    schema.config.base_url = f"http://{ana.service.host}"
    operation = schema[path][method]

    @settings(max_examples=EXAMPLES, database=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        if mode is GenerationMode.POSITIVE:
            if "project" in (case.path_parameters or {}):
                case.path_parameters["project"] = str(ana.project)
            if "wait" in (case.query or {}):
                case.query["wait"] = 0
        case.call_and_validate(headers={"authorization": f"Bearer {ana.token}"}, checks=CHECKS, timeout=60)

    check()
