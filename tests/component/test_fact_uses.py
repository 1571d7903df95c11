"""What becomes of facts with time: which become the project's, which are put away, what counts as use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from opened_memory import DAY, NOW, Memory, opened, rebuilt

from siftd.facts.model import Candidate
from siftd.store import injection_ledger
from siftd.store.injection_ledger import Injection

BARN = "Pens are made in `src/barn.py`."


async def take(memory: Memory, text: str = BARN, source: int | None = None, **fields: Any) -> int:
    """Let a fact be taken from something said in the session `first`; return it."""
    if source is None:
        source = await memory.capture(tool="UserPromptSubmit", payload={"prompt": text}, eventKind="prompt")
    given: dict[str, Any] = {
        "category": "convention", "confidence": 0.8, "importance": 3, "quote": text, "said_by": "person",
        "valid_from": NOW - DAY, "sources": (source,),
    }  # fmt: skip
    taken = await memory.services.fact_proposals.propose([Candidate(text=text, **given | fields)])
    return [*taken.added, *taken.merged][0]


async def give(memory: Memory, fact: int, session: str) -> None:
    """Note that a session was given a fact unasked."""
    given = [Injection(f"m{fact}", None, {"section": "standing"})]
    await memory.services.store.write(
        lambda c: injection_ledger.insert(c, session, "UserPromptSubmit", given, memory.clock.now_ms())
    )


async def work_on(memory: Memory, number: int, file: str, session: str) -> None:
    payload = {"tool_input": {"file_path": file, "old_string": "a", "new_string": f"b{number}"}}
    await memory.capture(number, tool="Edit", action="edit", payload=payload, sessionId=session)


async def settle(memory: Memory) -> None:
    """Let the sessions be over, and do what is done then."""
    memory.clock.at += 3_600_000
    await memory.ask("drain")


async def uses(memory: Memory, fact: int) -> tuple[int, int]:
    told = (await memory.ask("fact_story", id=f"m{fact}"))["uses"]
    return told["given"], told["used"]


async def scopes(memory: Memory) -> dict[str, str]:
    return dict(await memory.rows("SELECT text, scope FROM facts"))


async def test_a_fact_is_used_when_a_session_that_was_given_it_then_works_on_what_it_names(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        fact = await take(memory)
        for session, file in (("second", "src/barn.py"), ("third", "src/other.py")):
            await memory.capture(len(session), sessionId=session)
            await give(memory, fact, session)
            await work_on(memory, 90 + len(session), file, session)
        await settle(memory)
        assert await uses(memory, fact) == (2, 1)
        await settle(memory)
        assert await uses(memory, fact) == (2, 1)


async def test_to_be_listed_found_or_given_is_no_use(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        fact = await take(memory)
        await memory.capture(7, sessionId="second")
        await give(memory, fact, "second")
        for _ in range(5):
            await memory.ask("search", query="pens barn")
            await memory.ask("facts", sessions=True)
            await memory.ask("memories")
        await settle(memory)
        assert await uses(memory, fact) == (1, 0)
        assert await scopes(memory) == {BARN: "session"}


async def test_nothing_is_settled_while_the_session_goes_on(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await take(memory, importance=5)
        await memory.capture(9, ts=NOW)
        await memory.ask("drain")
        assert await scopes(memory) == {BARN: "session"}


async def test_at_its_end_what_matters_was_used_confirmed_or_said_again_is_the_projects(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await take(memory, "Never delete a pen.", importance=4)
        await take(memory, "Okapis like the rain.")
        confirmed = await take(memory, "Zebras sleep standing in the yard.")
        await memory.ask("verify", id=f"m{confirmed}", verdict="confirmed", typed=True)
        said = await take(memory, "The feed comes from a mill in Hallein.")
        assert await take(memory, "The feed comes from a mill in Hallein.") == said
        used = await take(memory)
        await memory.capture(7, sessionId="second")
        await give(memory, used, "second")
        await work_on(memory, 91, "src/barn.py", "second")
        await settle(memory)
        ours = {text for text, scope in (await scopes(memory)).items() if scope == "project"}
        assert ours == {
            "Never delete a pen.", "Zebras sleep standing in the yard.", "The feed comes from a mill in Hallein.", BARN
        }  # fmt: skip
        (row,) = await memory.rows("SELECT who, why FROM fact_history WHERE fact_id = ? AND what = 'promote'", used)
        assert row == ("use", "used again")
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert {text for text, scope in (await scopes(memory)).items() if scope == "project"} == ours


async def test_a_sessions_story_cites_the_facts_that_it_left(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        fact = await take(memory, importance=5)
        await work_on(memory, 5, "src/barn.py", "first")
        await memory.capture(6, tool="Stop", eventKind="turn_end", payload={"last_assistant_message": "Pens are done."})
        for _ in range(2):
            await settle(memory)
        ((story,),) = await memory.rows("SELECT max(id) FROM summaries WHERE scope = 'session'")
        assert f"m{fact}" in (await memory.ask("show", id=f"s{story}"))["item"]["derivesFrom"]


async def test_what_nobody_used_and_matters_little_is_put_away_and_comes_back(tmp_path: Path) -> None:
    async with opened(tmp_path, facts_archiveDays=30) as memory:
        fact = await take(memory, importance=2)
        kept = await memory.ask("remember", text="Okapis eat leaves.", importance=1)
        await take(memory, "Zebras sleep standing in the yard.", importance=3)
        await take(memory, "Answer in German.", importance=1, category="preference")
        memory.clock.at = NOW + 31 * DAY
        await memory.ask("drain")
        assert await memory.rows("SELECT id FROM facts WHERE status = 'archived'") == [(fact,)]
        assert fact != kept["memoryId"]
        found = (await memory.ask("search", query="pens barn", filters={"kind": "memory"}))["hits"]
        assert BARN not in [hit["text"] for hit in found]
        assert await take(memory) == fact  # said again
        await memory.ask("drain")
        assert await memory.rows("SELECT count(*) FROM facts WHERE status = 'archived'") == [(0,)]


async def test_a_person_undoes_that_a_fact_was_put_away(tmp_path: Path) -> None:
    async with opened(tmp_path, facts_archiveDays=30) as memory:
        fact = await take(memory, importance=1)
        memory.clock.at = NOW + 31 * DAY
        await memory.ask("drain")
        assert (await memory.ask("verify", id=f"m{fact}", verdict="confirmed", typed=True))["status"] == "active"
        await memory.ask("drain")
        assert await memory.rows("SELECT status FROM facts") == [("active",)]


async def test_by_default_nothing_is_ever_put_away(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await take(memory, importance=1)
        memory.clock.at = NOW + 3_000 * DAY
        await memory.ask("drain")
        assert await memory.rows("SELECT status FROM facts") == [("active",)]
