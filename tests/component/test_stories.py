"""What becomes of a turn and of a session: one summary each, standing on the events that it tells."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from known_kinds import item_of, named
from opened_memory import NOW, Memory, opened
from workbench import Workbench, nobody

from siftd.model import Event, SessionChange
from siftd.store import event_views
from siftd.summarise.contract import Cannot, TryLater
from siftd.summarise.extractive import NAME, Extractive
from siftd.summarise.grounding import Source, unsupported_claims
from siftd.summarise.prompt import prompt_for, prompt_hash

CLOSING = "Expired tokens are rejected now, because validate_token compares exp with the clock."


class Story:
    """Tells turns into a workbench, one event after the other."""

    def __init__(self, bench: Workbench, session: str = "s1") -> None:
        self.bench = bench
        self.session = session
        self.prompts = 0

    async def prompt(self, text: str, **fields: Any) -> int:
        self.prompts += 1
        return await self._keep("UserPromptSubmit", {"prompt": text}, "prompt", **fields)

    async def ran(self, command: str, stdout: str = "", *, tool: str = "Bash", **tool_input: Any) -> int:
        payload = {"tool_input": {"command": command, **tool_input}, "tool_response": {"stdout": stdout}}
        return await self._keep(tool, payload, "tool", outcome="ok")

    async def edited(self, path: str) -> int:
        payload = {"tool_input": {"file_path": path, "old_string": "a", "new_string": "b"}, "tool_response": {}}
        return await self._keep("Edit", payload, "tool", outcome="ok")

    async def said(self, text: str, *, at: int | None = None, **fields: Any) -> int:
        return await self._keep("AssistantText", {"text": text}, "text", at=at, **fields)

    async def stop(self, text: str = CLOSING) -> int:
        return await self._keep("Stop", {"last_assistant_message": text}, "stop")

    async def end(self) -> None:
        change = SessionChange(client="x", session_id=self.session, change="end", ts=self.bench.clock.now_ms())
        await self.bench.store.keep(change)

    async def _keep(
        self, tool: str, payload: dict[str, Any], kind: str, *, at: int | None = None, **fields: Any
    ) -> int:
        self.bench.clock.forward(1)
        self.bench.calls += 1
        event = Event(
            client="claude-code",
            session_id=self.session,
            **named(tool),
            payload=payload,
            ts=self.bench.clock.now_ms() if at is None else at,
            identity=(kind, f"n{self.bench.calls}"),
            native_id=f"n{self.bench.calls}",
            prompt_id=f"p{self.session}{self.prompts}",
            **fields,
        )
        (receipt,) = await self.bench.store.keep(event)
        return receipt.event_id or 0


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Workbench]:
    async with Workbench(tmp_path) as opened_bench:
        opened_bench.backend = Extractive()  # type: ignore[assignment]
        opened_bench.put_together()
        yield opened_bench


def told(bench: Workbench, scope: str) -> list[tuple[Any, ...]]:
    return bench.rows(f"SELECT event_id, text FROM summaries WHERE scope = '{scope}' ORDER BY id")


def cited(bench: Workbench, scope: str) -> list[int]:
    sql = "SELECT p.dst_id FROM provenance_edges p JOIN summaries s ON s.id = p.src_id"
    rows = bench.rows(
        f"{sql} WHERE p.src_kind = 'summary' AND p.dst_kind = 'event' AND p.edge = 'derives_from'"
        f" AND s.scope = '{scope}' ORDER BY s.id, p.dst_id"
    )
    return [row[0] for row in rows]


async def test_a_turn_s_end_tells_what_was_asked_done_and_proved_and_cites_it(bench: Workbench) -> None:
    story = Story(bench)
    asked = await story.prompt("Find out why expired tokens are accepted.")
    await story.ran("", tool="Read", file_path="/w/src/auth.py")
    edited = await story.edited("/w/src/auth.py")
    failed = await story.ran("pytest -q", "1 failed, 3 passed in 0.2s\nFAILED t.py::test_expired")
    passed = await story.ran("pytest -q", "4 passed in 0.20s")
    stop = await story.stop()
    await bench.drain()
    assert told(bench, "turn") == [
        (
            stop,
            f"Asked: Find out why expired tokens are accepted. → {CLOSING} — changed /w/src/auth.py;"
            " `pytest -q`: 4 passed; before: `pytest -q` reported failures: 1 failed, 3 passed: test_expired",
        )
    ]
    assert cited(bench, "turn") == [asked, edited, failed, passed], "what only looked something up proves nothing"


async def test_a_turn_begins_after_the_turn_before(bench: Workbench) -> None:
    story = Story(bench)
    await story.prompt("Mend the first thing.")
    await story.edited("/w/one.py")
    await story.stop("Done with the first.")
    second = await story.prompt("Mend the second thing.")
    edited = await story.edited("/w/two.py")
    await story.stop("Done with the second.")
    await Story(bench, "other").edited("/w/three.py")
    await bench.drain()
    _, (_, text) = told(bench, "turn")
    assert text == "Asked: Mend the second thing. → Done with the second. — changed /w/two.py"
    assert cited(bench, "turn")[-2:] == [second, edited]


REASON = "The check is skipped because the clock is read in seconds."


async def test_a_reason_given_on_the_way_is_told_where_the_closing_gives_none(bench: Workbench) -> None:
    story = Story(bench)
    await story.prompt("Find out why expired tokens are accepted.")
    spoken = await story.said(REASON)
    await story.said("A subagent says: it is so because of the moon.", agent_id="a1")
    await story.edited("/w/auth.py")
    await story.stop("Expired tokens are rejected now.")
    await bench.drain()
    ((_, text),) = told(bench, "turn")
    assert text == (
        "Asked: Find out why expired tokens are accepted. → Expired tokens are rejected now. — on the way:"
        f" {REASON} — changed /w/auth.py"
    )
    assert spoken in cited(bench, "turn")


async def test_a_reason_in_the_closing_stands_before_what_failed_on_the_way(bench: Workbench) -> None:
    story = Story(bench)
    await story.prompt("Expired session tokens are accepted. Find out why and fix it. Prefer the standard library.")
    failure = (
        "1 failed, 3 passed in 0.2s\nFAILED tests/test_auth.py::test_that_an_expired_token_is_refused_by_the_clock"
    )
    await story.ran("python3 -m pytest -q tests/test_auth.py tests/test_tokens.py", failure)
    await story.edited("/w/src/authentication/tokens.py")
    await story.ran("python3 -m pytest -q tests/test_auth.py tests/test_tokens.py", "4 passed in 0.20s")
    reason = "We keep plain pairs rather than JWT because the service is internal."
    await story.stop(f"Expired tokens are rejected now: validate_token compares exp with the clock. {reason}")
    await bench.drain()
    ((_, text),) = told(bench, "turn")
    assert reason in text
    assert "changed /w/src/authentication/tokens.py" in text


async def test_what_was_said_belongs_to_its_turn_however_late_it_is_read(bench: Workbench) -> None:
    """Live, a transcript is read after the hook that tells the turn's end."""
    story = Story(bench)
    await story.prompt("Mend the first thing.")
    then = bench.clock.now_ms()
    bench.clock.forward(1)
    await story.stop("Done with the first.")
    late = await story.said(REASON, at=then)
    await story.prompt("Mend the second thing.")
    await story.stop("Done with the second.")
    await bench.drain()
    (_, first), (_, second) = told(bench, "turn")
    assert REASON in first
    assert REASON not in second
    assert late in cited(bench, "turn")


async def test_what_was_said_is_as_little_believed_as_what_was_read_before_it(bench: Workbench) -> None:
    story = Story(bench)
    await story.prompt("Read the page.", said_by="person")
    before = await story.said("I look it up.", said_by="agent")
    await story.ran("", "a page", tool="WebFetch", url="https://example.com", said_by="outside")
    after = await story.said(REASON, said_by="agent")
    await story.stop("The page says so.")
    await story.prompt("Thanks.", said_by="person")
    later = await story.said("Another reason.", said_by="agent")
    await bench.drain()
    of = dict(bench.rows("SELECT event_id, said_by FROM summaries WHERE scope = 'event'"))
    assert (of[after], of[later]) == ("outside", "agent")
    assert of[before] != "outside"


async def test_a_task_s_change_is_told_with_what_the_task_is(bench: Workbench) -> None:
    story = Story(bench)
    made = await story._keep(
        "TaskCreate",
        {"tool_input": {"subject": "Rotate the keys"}, "tool_response": {"task": {"id": "2"}}},
        "tool",
        outcome="ok",
    )
    change = {"tool_input": {"taskId": "2", "status": "completed"}, "tool_response": {"success": True}}
    updated = await story._keep("TaskUpdate", change, "tool", outcome="ok")
    other = await Story(bench, "other")._keep("TaskUpdate", change, "tool", outcome="ok")
    await bench.drain()
    of = dict(bench.rows("SELECT event_id, text FROM summaries"))
    assert (of[updated], of[other]) == ("Task 2: completed; Rotate the keys", "Task 2: completed")
    assert cited(bench, "event") == [made]


async def test_what_is_said_to_siftd_is_on_the_record_and_nowhere_else(bench: Workbench) -> None:
    story = Story(bench)
    await story.prompt("Find out why expired tokens are accepted.")
    asked = await story.ran("", tool="mcp__plugin_siftd_siftd__search", query="expired tokens")
    shell = await story.ran("mem search 'expired tokens'")
    kept = await story.ran("mem remember 'Tokens expire after an hour.'")
    stop = await story.stop()
    command = await story.prompt("/mem search expired tokens")
    answer = await story.stop("s51: expired tokens")
    await story.end()
    await bench.drain()
    for _ in range(2):
        await bench.consolidator.drain(None, nobody)
    told_of = {row[0] for row in bench.rows("SELECT event_id FROM summaries")}
    assert not told_of & {asked, shell, kept, command}
    assert stop in told_of
    ((_, text),) = told(bench, "session")
    assert text == f"Session: Find out why expired tokens are accepted. → {CLOSING}"
    assert bench.rows(f"SELECT text FROM summaries WHERE event_id = {answer} AND scope <> 'session'") == []
    assert bench.rows("SELECT DISTINCT status FROM events") == [("summarized",)]
    silent = (asked, shell, kept, command, answer)
    assert bench.rows(f"SELECT DISTINCT words FROM event_words WHERE event_id IN {silent}") == [("",)]


async def test_a_turn_after_what_siftd_s_hook_has_answered_is_told(bench: Workbench) -> None:
    """A `/mem` command that our hook answers ends no turn: the next `Stop` is of the prompt behind it."""
    story = Story(bench)
    await story.prompt("/mem info")
    await story.prompt("Find out why expired tokens are accepted.")
    stop = await story.stop()
    await story.prompt("Now write it down.")
    await story.prompt("/mem search tokens")
    other = await story.stop("Written down in docs/tokens.md.")
    await story.end()
    for _ in range(2):
        await bench.consolidator.drain(None, nobody)
    assert told(bench, "turn") == [
        (stop, f"Asked: Find out why expired tokens are accepted. → {CLOSING}"),
        (other, "Asked: Now write it down. → Written down in docs/tokens.md."),
    ]
    ((_, text),) = told(bench, "session")
    assert text.endswith("→ Written down in docs/tokens.md.")
    assert "/mem" not in text


async def test_a_session_that_ended_has_one_summary_on_its_last_event(bench: Workbench) -> None:
    story = Story(bench)
    events = [await story.prompt("Find out why expired tokens are accepted."), await story.edited("/w/auth.py")]
    last = await story.stop()
    await bench.consolidator.drain(None, nobody)
    assert told(bench, "session") == []
    await story.end()
    for _ in range(2):
        await bench.consolidator.drain(None, nobody)
    assert told(bench, "session") == [
        (last, f"Session: Find out why expired tokens are accepted. → {CLOSING} — changed /w/auth.py")
    ]
    assert cited(bench, "session") == events
    assert bench.rows("SELECT model FROM summaries WHERE scope = 'session'") == [(NAME,)]


async def test_a_session_that_is_idle_is_told_and_told_anew_when_it_goes_on(bench: Workbench) -> None:
    story = Story(bench)
    await story.prompt("Find out why expired tokens are accepted.")
    await story.stop()
    bench.clock.forward(3600)
    await bench.consolidator.drain(None, nobody)
    assert len(told(bench, "session")) == 1
    await story.prompt("Write it down in the documents too.")
    last = await story.stop("Wrote it down.")
    await bench.consolidator.drain(None, nobody)
    assert len(told(bench, "session")) == 1, "it goes on"
    bench.clock.forward(3600)
    await bench.consolidator.drain(None, nobody)
    (_, _), (event_id, text) = told(bench, "session")
    assert (event_id, text) == (
        last,
        "Session of 2 prompts: Find out why expired tokens are accepted. / … / Write it down in the documents too."
        " → Wrote it down.",
    )
    live = (
        "SELECT text FROM summaries s WHERE scope = 'session' AND id NOT IN (SELECT older_id FROM summary_supersedes)"
    )
    assert bench.rows(live) == [(text,)]


async def test_a_session_without_a_prompt_has_no_story(bench: Workbench) -> None:
    await Story(bench).ran("make")
    bench.clock.forward(3600)
    await bench.consolidator.drain(None, nobody)
    assert told(bench, "session") == []


async def test_deleted_stories_come_back_word_for_word(bench: Workbench) -> None:
    story = Story(bench)
    await story.prompt("Find out why expired tokens are accepted.")
    await story.edited("/w/auth.py")
    await story.stop()
    await story.end()
    await bench.consolidator.drain(None, nobody)
    before = bench.rows("SELECT event_id, scope, model, text, prompt_hash, confidence FROM summaries ORDER BY 1, 2")
    bench.by_hand("DELETE FROM summaries", "UPDATE events SET status = 'raw'")
    await bench.consolidator.drain(None, nobody)
    after = bench.rows("SELECT event_id, scope, model, text, prompt_hash, confidence FROM summaries ORDER BY 1, 2")
    assert after == before
    assert bench.rows("SELECT count(*) FROM provenance_edges WHERE src_kind = 'summary' AND src_id NOT IN"
                      " (SELECT id FROM summaries)") == [(0,)]  # fmt: skip


async def test_a_backend_that_is_away_leaves_the_session_for_later_and_one_that_cannot_is_stood_in_for(
    tmp_path: Path,
) -> None:
    async with Workbench(tmp_path) as bench:
        story = Story(bench)
        await story.prompt("Find out why expired tokens are accepted.")
        await story.stop()
        await bench.drain()
        await story.end()
        bench.backend.verdict = lambda item: TryLater(reason="away", after_seconds=5)
        await bench.consolidator.drain(None, nobody)
        assert told(bench, "session") == []
        bench.backend.verdict = lambda item: Cannot(reason="no")
        await bench.consolidator.drain(None, nobody)
        assert len(told(bench, "session")) == 1
        assert bench.rows("SELECT model FROM summaries WHERE scope = 'session'") == [(NAME,)]


async def test_show_says_what_a_story_stands_on(bench: Workbench) -> None:
    story = Story(bench)
    asked = await story.prompt("Find out why expired tokens are accepted.")
    stop = await story.stop()
    await bench.drain()
    event = event_views.find_event(bench.store.reader, stop)
    assert event is not None
    assert [(each["scope"], each["derivesFrom"]) for each in event["summaries"]] == [("turn", [f"e{asked}"])]


async def test_forgetting_a_part_of_a_turn_has_its_story_told_anew(tmp_path: Path) -> None:
    """Its words came from what is forgotten."""

    async def tell(memory: Memory, number: int, tool: str, **payload: Any) -> int:
        return await memory.capture(number, tool=tool, payload=payload, ts=NOW - 3_600_000 + number)

    async with opened(tmp_path) as memory:
        await tell(memory, 1, "UserPromptSubmit", prompt="Ask nobody about the budget.")
        edit = {"file_path": "/w/zanzibar.py", "old_string": "a", "new_string": "b"}
        edited = await tell(memory, 2, "Edit", tool_input=edit, tool_response={})
        await tell(memory, 3, "Stop", last_assistant_message="Done as asked.")
        await memory.ask("drain")
        texts = "SELECT text FROM summaries WHERE scope <> 'event' ORDER BY id"
        assert [("zanzibar" in text) for (text,) in await memory.rows(texts)] == [True, True]
        await memory.ask("forget", ids=[f"e{edited}"], dryRun=False)
        await memory.ask("drain")
        assert [text for (text,) in await memory.rows(texts)] == [
            "Asked: Ask nobody about the budget. → Done as asked.",
            "Session: Ask nobody about the budget. → Done as asked.",
        ]


def test_a_model_is_given_the_story_and_its_text_is_checked_against_it() -> None:
    edit = item_of(event_id=2, tool="Edit", payload={"tool_input": {"file_path": "/w/auth_token.py"}}, outcome="ok")
    stop = item_of(event_id=3, tool="Stop", payload={"last_assistant_message": "Done."}, scope="turn", story=(edit,))
    message = prompt_for(stop).message
    assert "ends a turn" in message
    assert "/w/auth_token.py" in message
    assert unsupported_claims("Changed /w/auth_token.py.", Source.of(stop)) == []
    assert unsupported_claims("Changed /w/other.py.", Source.of(stop)) == ["w/other.py"]
    alone = msgspec.structs.replace(stop, story=())
    assert prompt_hash(stop) != prompt_hash(alone)
