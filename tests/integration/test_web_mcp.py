"""The agent's tools over HTTP, as the official SDK's client uses them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from daemons import Place
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from web_page import Page, serving

from siftd.mcp.serve import DEFAULT


@pytest.fixture
def page(place: Place) -> Iterator[Page]:
    place.start()
    place.capture(1)
    with serving(place) as served:
        yield served


@asynccontextmanager
async def connected(page: Page, project: str | None = None, **headers: str) -> AsyncIterator[Any]:
    said = {"authorization": f"Bearer {page.token}"} | headers
    url = f"http://{page.host}/mcp?project={project or page.key}"
    async with (
        create_mcp_http_client(headers=said) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


async def test_the_same_tools_answer_over_http(page: Page) -> None:
    async with connected(page) as client:
        tools = {each.name for each in (await client.list_tools()).tools}
        assert tools == {name for name, _ in DEFAULT}
        kept = await client.call_tool("remember", {"text": "The job queue runs on Postgres"})
        assert not kept.is_error
        found = await client.call_tool("search", {"query": "job queue"})
        assert "Postgres" in found.structured_content["hits"][0]["text"]
        refused = await client.call_tool("show", {"id": "nothing"})
        assert refused.is_error


async def test_each_project_has_its_own_memory(page: Page) -> None:
    async with connected(page) as client:
        await client.call_tool("remember", {"text": "The job queue runs on Postgres"})
    page.ask("POST", "/api/projects/_global/memory", {"text": "Prefer small commits"}, token=page.person())
    async with connected(page, "_global") as client:
        found = await client.call_tool("search", {"query": "job queue Postgres"})
        assert all("Postgres" not in hit["text"] for hit in found.structured_content["hits"])


def ask(page: Page, path: str, **how: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"accept": "application/json, text/event-stream"} | how.pop("headers", {})
    return page.ask("POST", path, body, headers=headers, **how)


def test_no_tool_without_the_token_or_from_elsewhere(page: Page) -> None:
    path = f"/mcp?project={page.key}"
    assert ask(page, path).status == 200
    assert ask(page, path, token=None).status == 401
    assert ask(page, path, token="wrong").status == 401
    assert ask(page, path, headers={"host": "evil.example"}).status == 421
    assert ask(page, path, headers={"origin": "http://evil.example"}).status == 403
    assert ask(page, path, headers={"sec-fetch-site": "cross-site"}).status == 403


@pytest.mark.parametrize("query", ["", "?project=", "?project=" + "0" * 16])
def test_a_project_has_to_be_named(page: Page, query: str) -> None:
    assert ask(page, f"/mcp{query}").status == 404


def test_what_is_no_message_is_refused(page: Page) -> None:
    answer = page.ask("POST", f"/mcp?project={page.key}", b"{", headers={"accept": "application/json"})
    assert 400 <= answer.status < 500
    assert page.ask("GET", f"/mcp?project={page.key}").status == 405
