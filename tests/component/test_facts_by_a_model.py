"""Facts that a model finds and judges: one request a turn, one for its pairs, nothing that the words do not say."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from model_server import ScriptedServer, openai_reply, running
from model_server import said as summary
from opened_memory import DAY, NOW, Memory, opened

from siftd.consolidate.fact_passes import ASKED_A_ROUND
from siftd.daemon import backends
from siftd.summarise.contract import Item, TokenBudget, Verdict
from siftd.summarise.prompt import Prompt

PROMPT = "hm, Postgres it is for the orders then. Rename the class."
QUOTE = "Postgres it is for the orders then"
FACT = "The orders are kept in Postgres."


def found(**fields: Any) -> dict[str, Any]:
    return {"message": 1, "fact": FACT, "quote": QUOTE, "category": "decision", "importance": 5, **fields}


@asynccontextmanager
async def asking(
    folder: Path, facts: Callable[[], Any], verdicts: Callable[[str], Any] = lambda _: {"verdicts": []}
) -> AsyncIterator[tuple[Memory, ScriptedServer]]:
    """Open a workspace whose model answers requests for facts and verdicts as told; a text is answered as it is."""

    def choose(request: dict[str, Any]) -> Any:
        rules, message = (each["content"] for each in request["messages"])
        if '{"facts"' in rules:
            answer = facts()
        elif '{"verdicts"' in rules:
            answer = verdicts(message)
        else:
            return openai_reply(summary("Something was said."))
        return openai_reply(answer if isinstance(answer, str) else json.dumps(answer))

    async with running() as server:
        server.choose = choose
        async with opened(folder, memory_backend="openai:m", memory_baseUrl=f"{server.url}/v1") as memory:
            yield memory, server


def requests_for(server: ScriptedServer, what: str) -> int:
    return sum(f'{{"{what}"' in request["messages"][0]["content"] for _, _, request in server.requests)


async def turn(memory: Memory, prompt: str, ts: int = 1, by: str = "person") -> None:
    """Keep a turn that is over, and drain."""
    await said(memory, prompt, ts, by)
    await memory.ask("drain")


async def said(memory: Memory, prompt: str, ts: int, by: str = "person") -> None:
    """Keep a turn that is over."""
    asked = await memory.capture(
        ts, sessionId="s", ts=NOW - DAY + ts, tool="UserPromptSubmit", payload={"prompt": prompt}
    )
    ended = await memory.capture(
        ts + 1, sessionId="s", ts=NOW - DAY + ts + 1, tool="Stop", payload={"last_assistant_message": "Done."}
    )
    await memory.by_hand("UPDATE events SET kind = 'prompt', said_by = ? WHERE id = ?", by, asked)
    await memory.by_hand("UPDATE events SET kind = 'turn_end', said_by = 'agent' WHERE id = ?", ended)


async def facts(memory: Memory, status: str = "active") -> list[str]:
    return [row[0] for row in await memory.rows("SELECT text FROM facts WHERE status = ? ORDER BY id", status)]


async def test_a_model_finds_what_no_rule_knows_the_form_of_with_one_request_a_turn(tmp_path: Path) -> None:
    async with asking(tmp_path, lambda: {"facts": [found()]}) as (memory, server):
        await turn(memory, PROMPT)
        assert await memory.rows("SELECT text, quote, said_by, importance FROM facts") == [(FACT, QUOTE, "person", 4)]
        await memory.ask("drain")
        assert requests_for(server, "facts") == 1


@pytest.mark.parametrize(
    "wrong",
    [
        found(quote="Postgres is used for the orders"),  # nobody said that
        found(message=2, quote="Done."),
        found(fact="The orders are kept in Postgres 16."),  # a number that is nowhere
        found(fact="The `orders_v2` are in Postgres."),
        found(category="vital"),
        found(fact="no"),
        {"fact": FACT},
        "always use Postgres",
    ],
)
async def test_what_the_words_do_not_bear_out_is_no_fact(tmp_path: Path, wrong: Any) -> None:
    async with asking(tmp_path, lambda: {"facts": [wrong]}) as (memory, _):
        await turn(memory, PROMPT)
        assert await facts(memory) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "so Postgres it is for the orders then?",
        "if Postgres it is for the orders then what",
        f'he said "{QUOTE}" there',
    ],
)
async def test_a_model_makes_no_fact_of_a_question_a_supposition_or_a_quotation(tmp_path: Path, prompt: str) -> None:
    async with asking(tmp_path, lambda: {"facts": [found()]}) as (memory, _):
        await turn(memory, prompt)
        assert await facts(memory) == []


async def test_words_of_a_page_are_not_even_sent(tmp_path: Path) -> None:
    async with asking(tmp_path, lambda: {"facts": [found()]}) as (memory, server):
        await turn(memory, PROMPT, by="outside")
        assert await facts(memory) == []
        assert requests_for(server, "facts") == 0


@pytest.mark.parametrize("answer", ["I would delete and update this: merge it.", "", "{", '{"facts": 7}'])
async def test_an_answer_of_another_form_leaves_it_to_the_rules(tmp_path: Path, answer: str) -> None:
    async with asking(tmp_path, lambda: answer, lambda _: answer) as (memory, _):
        await turn(memory, "Never push to main without a review.")
        await turn(memory, "Never push to stable without a review.", ts=5)
        assert await facts(memory) == ["Never push to main without a review.", "Never push to stable without a review."]


async def test_a_model_tells_what_no_rule_tells_with_one_request_for_all_pairs(tmp_path: Path) -> None:
    def verdicts(message: str) -> Any:
        return {"verdicts": [{"pair": row["pair"], "verdict": "update"} for row in json.loads(message)]}

    async with asking(tmp_path, lambda: {"facts": []}, verdicts) as (memory, server):
        await turn(memory, "All exported files get a date in their name.")
        await turn(memory, "All exported files get a number in their name.", ts=5)
        assert await facts(memory) == ["All exported files get a number in their name."]
        assert await facts(memory, "superseded") == ["All exported files get a date in their name."]
        assert requests_for(server, "verdicts") == 1


async def test_a_model_cannot_merge_what_names_another_place_or_number(tmp_path: Path) -> None:
    def verdicts(message: str) -> Any:
        return {"verdicts": [{"pair": row["pair"], "verdict": "merge"} for row in json.loads(message)]}

    async with asking(tmp_path, lambda: {"facts": []}, verdicts) as (memory, _):
        await turn(memory, "The API listens on port 8080 in dev.")
        await turn(memory, "The API listens on port 8081 in prod.", ts=5)
        assert len(await facts(memory)) == 2


async def test_without_the_server_the_rules_stand_alone(tmp_path: Path) -> None:
    async with opened(tmp_path, memory_backend="openai:m", memory_baseUrl="http://127.0.0.1:9/v1") as memory:
        await turn(memory, "Never push to main without a review.")
        assert await facts(memory) == ["Never push to main without a review."]


class Remote:
    """A backend on another machine that counts how often it is asked."""

    name, is_remote, is_free = "openai:m", True, False
    asked = 0

    def prompt_hash(self, item: Item) -> str:
        return str(item.event_id)

    async def summarise(self, batch: list[Item], budget: TokenBudget) -> list[Verdict]:
        raise AssertionError("nothing is summarised here")

    async def answer(self, prompt: Prompt, budget: TokenBudget) -> str:
        self.asked += 1
        budget.pay(60)
        return "{}"


@pytest.mark.parametrize(("cap", "times"), [(0, 0), (100, 2)])
async def test_a_remote_model_is_asked_within_the_daily_cap_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cap: int, times: int
) -> None:
    backend = Remote()
    monkeypatch.setattr(backends, "make_backend", lambda *_, **__: backend)
    async with opened(tmp_path, memory_dailyTokenCap=cap) as memory:
        drainer = memory.services.backends.drainer
        for _ in range(4):
            await drainer.ask_model(Prompt("rules", "message", {}, 10))
        assert backend.asked == times


async def test_of_a_long_backlog_a_model_is_asked_about_few_turns(tmp_path: Path) -> None:
    async with asking(tmp_path, lambda: {"facts": []}) as (memory, server):
        for number in range(ASKED_A_ROUND + 5):
            await said(memory, f"Never push release {number} without a review.", ts=10 * number)
        await memory.ask("drain")
        assert requests_for(server, "facts") == ASKED_A_ROUND
        assert len(await facts(memory)) == ASKED_A_ROUND + 5  # the rules read them all
