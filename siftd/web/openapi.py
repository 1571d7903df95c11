"""The description of an API that programs read, made from the table of its routes and the types that it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

import siftd
from siftd.web.routing import JSON
from siftd.web.types import ProblemAnswer

_COMPONENTS = "#/components/schemas/{name}"
_NAMED = re.compile(r"{(\w+)}")
_CITED = {"type": "string", "pattern": "^#?[esmgtESMGT]?[0-9]{1,18}$"}
_PATH: dict[str, dict[str, Any]] = {
    "project": {"type": "string", "description": "as GET /api/projects lists it"},
    "id": _CITED | {"description": "as it is cited: e12 an event, s7 a summary, m3 a memory, g3 one for every project"},
    "job": {"type": "string", "description": "as the answer that began it has it"},
}
_REFUSALS = {
    400: "The request is not as described, or cannot be carried out",
    401: "No token, or a wrong one",
    403: "From another page, or only a person may do it",
    404: "There is nothing of this name",
    409: "The daemon is of another version",
    410: "The workspace's folder is gone",
    421: "Not a name of this server",
    429: "Too many requests",
    500: "The daemon failed",
    502: "What answers is no daemon of siftd",
    503: "The daemon is not there and cannot be started",
    504: "The daemon is busy",
    507: "The disk is full",
}


class Described(Protocol):
    """What is said of a route."""

    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def work(self) -> Callable[..., object]: ...
    @property
    def query(self) -> type[Any]: ...
    @property
    def body(self) -> type[Any] | None: ...
    @property
    def answer(self) -> Any: ...
    @property
    def status(self) -> int: ...
    @property
    def others(self) -> Mapping[int, Any]: ...


@dataclass(frozen=True, slots=True)
class About:
    """What is said of an API as a whole."""

    title: str
    description: str
    path: Mapping[str, dict[str, Any]]
    """What may stand in a path, by its name there."""
    refusals: Mapping[int, str]
    """What any route may answer, by status. Each body is a ProblemAnswer."""


HERE = About(
    title="siftd",
    description="The memory of coding agents, on this machine. Moments are milliseconds since 1970."
    " A list goes on where `cursor` is given what `nextCursor` was.",
    path=_PATH,
    refusals=_REFUSALS,
)


def describe(routes: Iterable[Described], about: About = HERE) -> dict[str, Any]:
    """Return an API as OpenAPI 3.1 has it."""
    listed = list(routes)
    kinds = [ProblemAnswer]
    for route in listed:
        kinds += [route.query, *([route.body] if route.body else []), route.answer, *route.others.values()]
    _, components = msgspec.json.schema_components(list(dict.fromkeys(kinds)), ref_template=_COMPONENTS)
    paths: dict[str, dict[str, Any]] = {}
    for route in listed:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, components, about)
    queries = {route.query.__name__ for route in listed}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": about.title,
            "version": siftd.__version__,
            "description": about.description,
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": {name: schema for name, schema in components.items() if name not in queries},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Described, components: dict[str, Any], about: About) -> dict[str, Any]:
    named = _NAMED.findall(route.path)
    query = components[route.query.__name__]
    required = query.get("required", [])
    parameters = [{"name": name, "in": "path", "required": True, "schema": about.path[name]} for name in named]
    parameters += [
        {"name": name, "in": "query", "required": name in required, "schema": _without_null(schema)}
        for name, schema in query.get("properties", {}).items()
    ]
    answers = {route.status: route.answer, **route.others}
    responses = {
        str(status): {"description": "The answer", "content": _content(_schema(answer))}
        for status, answer in answers.items()
    }
    refusals = {**about.refusals} | ({413: "The body is too long", 415: "The body is no JSON"} if route.body else {})
    for status, why in refusals.items():
        responses.setdefault(str(status), {"description": why, "content": _content(_schema(ProblemAnswer))})
        if status in route.others:  # refused in this way for either reason
            either = {"anyOf": [_schema(route.others[status]), _schema(ProblemAnswer)]}
            responses[str(status)] = {"description": why, "content": _content(either)}
    operation: dict[str, Any] = {
        "operationId": route.work.__name__,
        "summary": route.summary,
        "parameters": parameters,
        "responses": dict(sorted(responses.items())),
    }
    if route.body is not None:
        operation["requestBody"] = {"required": True, "content": _content(_schema(route.body))}
    return operation


def _schema(kind: Any) -> dict[str, Any]:
    return {"$ref": _COMPONENTS.format(name=kind.__name__)}


def _content(schema: dict[str, Any]) -> dict[str, Any]:
    return {JSON: {"schema": schema}}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a parameter's schema without null: in an address there is none, what is not given is left out."""
    kinds = [each for each in schema.get("anyOf", []) if each != {"type": "null"}]
    if len(kinds) == 1:
        return {**{name: value for name, value in schema.items() if name not in ("anyOf", "default")}, **kinds[0]}
    if None in schema.get("enum", []):
        return {**schema, "enum": [each for each in schema["enum"] if each is not None]}
    return schema
