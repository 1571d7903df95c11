"""An ingested sample answers what is asked of it: pages of a handbook, a fact and a session, read by the daemon."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from opened_memory import DAY, NOW, Hands, Memory, opened, rebuilt

TEAMS = """# Teams

## Platform team

The platform team maintains the auth service and the gateway service.
Alice works on the platform team.

## Payments team

Bob works on the payments team. The payments team owns the billing service.
"""
SERVICES = """# Services

## Auth service

The auth service depends on the user service.
The auth service depends on the session service and Redis.

## Gateway service

The gateway service depends on the auth service.
"""


async def ingest(memory: Memory, path: str, text: str) -> str:
    """Take a page in, and let the daemon read what it says."""
    answer = await memory.ask(
        "ingest_document",
        path=str(Path(memory.services.workspace.root or "") / path),
        title=path,
        type="markdown",
        hash=hashlib.sha256(text.encode()).hexdigest(),
        text=text,
    )
    await memory.services.consolidator.tick()
    return str(answer["id"])


@asynccontextmanager
async def sample(folder: Path, clock: Hands | None = None) -> AsyncIterator[Memory]:
    async with opened(folder, clock) as memory:
        await ingest(memory, "docs/teams.md", TEAMS)
        await ingest(memory, "docs/services.md", SERVICES)
        await memory.ask("remember", text="Carol works on the platform team.", typed=True)
        await memory.capture(1, tool="UserPromptSubmit", payload={"prompt": "The platform team uses Grafana."})
        await memory.services.consolidator.tick()
        yield memory


async def asked(memory: Memory, question: str, **fields: Any) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    """Return the relations that answer a question, with what says them."""
    answer = await memory.ask("entity_context", id=question, **fields)
    return {(each["src"]["name"], each["type"], each["dst"]["name"]): each["evidence"] for each in answer["relations"]}


async def test_what_services_the_auth_service_depends_on_is_answered_by_lines_of_the_page(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        answer = await asked(memory, "What services does the auth service depend on?")
        assert {dst for _, _, dst in answer} == {"user service", "session service"}
        page = next(
            each["id"] for each in (await memory.ask("documents"))["documents"] if each["path"] == "docs/services.md"
        )
        for (_, type_, dst), evidence in answer.items():
            assert type_ == "DEPENDS_ON"
            (said,) = evidence
            line = 5 if dst == "user service" else 6
            assert said["id"] == f"{page}:{line}"
            assert said["text"] == SERVICES.splitlines()[line - 1]
            assert (await memory.ask("show", id=said["id"]))["item"]["kind"] == "document"


async def test_what_is_known_about_the_platform_team_comes_from_pages_facts_and_sessions(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        answer = await memory.ask("entity_context", id="What do I know about the platform team?")
        found = {(each["src"]["name"], each["type"], each["dst"]["name"]) for each in answer["relations"]}
        assert {("Alice", "WORKS_ON", "platform team"), ("Carol", "WORKS_ON", "platform team")} <= found
        assert {dst for src, _, dst in found if src == "platform team"} >= {"auth service", "gateway service"}
        assert all(each["evidence"] and each["evidence"][0]["text"] for each in answer["relations"])
        kinds = {each["id"][0] for each in answer["items"]}
        assert kinds >= {"m", "d"}


async def test_the_way_from_a_person_to_a_service_is_told_with_its_evidence(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        way = await memory.ask(
            "traverse_graph", startEntityId="Alice", targetEntityId="user service", action="path", maxDepth=6
        )
        assert [each["entity"]["name"] for each in way["nodes"]] == ["platform team", "auth service", "user service"]
        assert all(each["relation"]["evidence"][0]["id"].startswith("d") for each in way["nodes"])


async def test_a_rename_is_followed_and_the_old_name_still_finds_it(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        await ingest(memory, "docs/news.md", "The auth service was renamed to the identity service.\n")
        answer = await memory.ask("entity_context", id="What services does the auth service depend on?")
        assert answer["entity"]["name"] == "identity service"
        assert {each["dst"]["name"] for each in answer["relations"]} == {"user service", "session service"}


async def test_a_relation_that_ends_keeps_its_history_and_holds_at_its_time(tmp_path: Path) -> None:
    clock = Hands()
    async with sample(tmp_path, clock) as memory:
        clock.at = NOW + 10 * DAY
        await ingest(memory, "docs/services.md", SERVICES.replace("depends on the user service", "is old"))
        question = "What services does the auth service depend on?"
        assert {dst for _, _, dst in await asked(memory, question)} == {"session service"}
        assert {dst for _, _, dst in await asked(memory, question, asOf=NOW + 5 * DAY)} == {
            "user service", "session service",
        }  # fmt: skip
        ended = (await memory.ask("entity_context", id=question))["ended"]
        assert [(each["dst"]["name"], each["validTo"]) for each in ended] == [("user service", NOW + 10 * DAY)]
        assert [said["text"] for each in ended for said in each["evidence"]] == [""], "what stands there now says less"


async def test_what_was_asked_is_answered_the_same_after_a_rebuild(tmp_path: Path) -> None:
    question = "What services does the auth service depend on?"
    async with sample(tmp_path) as memory:
        before = {key: [each["text"] for each in said] for key, said in (await asked(memory, question)).items()}
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        await memory.services.consolidator.tick()
        after = {key: [each["text"] for each in said] for key, said in (await asked(memory, question)).items()}
    assert before == after


async def test_a_removed_page_says_nothing_any_more(tmp_path: Path) -> None:
    async with sample(tmp_path) as memory:
        pages = {each["path"]: each["id"] for each in (await memory.ask("documents"))["documents"]}
        await memory.ask("remove_documents", ids=[pages["docs/services.md"]])
        answer = await memory.ask("entity_context", id="auth service")
        assert {each["type"] for each in answer["relations"]} == {"WORKS_ON"}
        assert not [each for each in answer["items"] if each["id"].startswith(pages["docs/services.md"])]
