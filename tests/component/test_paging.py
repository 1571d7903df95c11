"""Long lists go on where the answer before ended, whatever comes in between."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from opened_memory import NOW, Memory, opened

from siftd.errors import RequestInvalid

LISTS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("sessions", "sessions", "sessionId", {"limit": 2}),
    ("timeline", "events", "eventId", {"before": 2, "after": 0}),
    ("timeline", "events", "eventId", {"before": 2, "after": 0, "session": "s1"}),
    ("memories", "memories", "id", {"limit": 2}),
    ("memories", "memories", "id", {"limit": 2, "byCreation": True}),
    ("injections", "injections", "id", {"limit": 2}),
    ("conversations", "conversations", "id", {"limit": 2}),
]


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with opened(tmp_path) as made:
        for number in range(7):
            await made.capture(number, sessionId=f"s{number % 5}", ts=NOW - 1000 + number // 2)
            await made.ask("remember", text=f"The kiln number {number} is hot")
            made.clock.at += number % 2
        await made.services.store.write(
            lambda c: c.executemany(
                "INSERT INTO injections (ts, session_id, hook, piece, event_id, after_id, why)"
                " VALUES (?, 's', 'h', ?, 1, 0, '{}')",
                [(NOW, f"e{number}") for number in range(5)],
            )
        )
        yield made


@pytest.mark.parametrize(("kind", "name", "key", "asked"), LISTS)
async def test_pages_together_are_the_whole_list_in_its_order(
    memory: Memory, kind: str, name: str, key: str, asked: dict[str, Any]
) -> None:
    whole = [
        each[key]
        for each in (await memory.ask(kind, **asked | dict.fromkeys(asked.keys() & {"limit", "before"}, 400)))[name]
    ]
    pages: list[list[Any]] = []
    cursor = None
    while True:
        answer = await memory.ask(kind, **asked, **({"cursor": cursor} if cursor else {}))
        pages.append([each[key] for each in answer[name]])
        if (cursor := answer["nextCursor"]) is None:
            break
        assert len(pages[-1]) == 2
    # A timeline is told forwards, and its pages go back.
    found = [each for page in (pages[::-1] if kind == "timeline" else pages) for each in page]
    assert found == whole
    assert len(whole) > 1


async def test_what_is_new_at_the_top_moves_no_page(memory: Memory) -> None:
    first = await memory.ask("sessions", limit=2)
    await memory.capture(90, sessionId="new", ts=NOW + 5)
    second = await memory.ask("sessions", limit=2, cursor=first["nextCursor"])
    ids = [each["sessionId"] for each in first["sessions"] + second["sessions"]]
    assert len(set(ids)) == 4
    assert "new" not in ids


async def test_a_cursor_of_another_list_is_refused(memory: Memory) -> None:
    cursor = (await memory.ask("memories", limit=2))["nextCursor"]
    with pytest.raises(RequestInvalid):
        await memory.ask("sessions", cursor=cursor)
