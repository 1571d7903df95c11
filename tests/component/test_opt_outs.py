"""Off means off: a session that was opted out, a workspace that is paused, a folder that is excluded."""

from __future__ import annotations

import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from opened_memory import NOW, Memory, SetClock, opened, rebuilt

from siftd.capture.intake import OPT_OUT_WORD
from siftd.cli.commands import exclude
from siftd.cli.context import Context
from siftd.errors import RequestInvalid
from siftd.log.spool import Spool, spool_frames
from siftd.model import SessionChange
from siftd.store.opt_outs import Way
from siftd.wire.frames import encode_hook
from siftd.workspace.identity import Workspace
from siftd.workspace.paths import Home

SECOND = 1000
MINUTE = 60 * SECOND


async def told(memory: Memory) -> list[tuple[str, str]]:
    return [(session, tool) for session, tool in await memory.rows("SELECT session_id, tool FROM events ORDER BY id")]


async def try_capture(memory: Memory, session: str, ts: int, way: Way = "live", **payload: Any) -> None:
    """Keep a call as a hook, a courier, an import or a backfill would, whatever becomes of it."""
    from siftd.wire.requests import Capture

    body = payload or {"tool_input": {"command": f"make {ts}"}, "tool_response": {}}
    request = Capture(session_id=session, tool="Bash", payload=body, ts=ts)
    await memory.services.committer.keep(memory.services.intake.from_capture(request, 100), way=way)


async def begin(memory: Memory, session: str) -> None:
    """Have a session begin, as its hook tells it."""
    change = SessionChange(client="claude-code", session_id=session, change="start", ts=NOW - SECOND)
    await memory.services.committer.keep(memory.services.intake.admission.admit_change(change))


async def test_only_a_session_that_is_known_is_paused_by_any_beginning_of_its_id(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        for session in ("d614c3b5-1", "d614c3b5-2", "nope"):
            await begin(memory, session)
        for unknown in ("absent", "d614c3b5", "d614c3b5-1x"):
            with pytest.raises(RequestInvalid):
                await memory.ask("pause", session=unknown, known=True)
        assert (await memory.ask("pause", session="no", known=True))["session"] == "nope"
        await try_capture(memory, "nope", NOW + 1)
        assert await told(memory) == []
        assert (await memory.ask("info"))["pausedSessions"] == [{"sessionId": "nope", "since": NOW}]
        assert (await memory.ask("resume", session="nop", known=True))["since"] is not None
        assert (await memory.ask("info"))["pausedSessions"] == []
        await try_capture(memory, "nope", NOW + 60 * SECOND)
        assert len((await memory.ask("timeline", session="nop"))["events"]) == 1
        with pytest.raises(RequestInvalid):
            await memory.ask("timeline", session="absent")


async def test_nothing_of_a_session_that_was_opted_out_is_kept_from_then_on(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.capture(1, ts=NOW - SECOND)
        await memory.ask("pause", session="first")
        await try_capture(memory, "first", NOW + 1)
        await try_capture(memory, "second", NOW + 1)
        await try_capture(memory, "first", NOW - 2 * SECOND, way="spooled")
        assert await told(memory) == [("first", "Bash"), ("second", "Bash"), ("first", "Bash")], (
            "what was before may come late"
        )


async def test_a_pause_and_its_end_hold_while_the_database_is_locked(tmp_path: Path) -> None:
    """The database knows of neither yet: the answer, and what `mem info` says, come from what the log was given."""
    async with opened(tmp_path) as memory:
        person = sqlite3.connect(memory.services.paths.database, isolation_level=None, timeout=0)
        person.execute("BEGIN IMMEDIATE")
        assert (await memory.ask("pause"))["since"] == NOW
        assert (await memory.ask("info"))["pausedSince"] == NOW
        await try_capture(memory, "first", NOW + 1)
        assert (await memory.ask("resume"))["since"] == NOW
        assert (await memory.ask("info"))["pausedSince"] is None
        memory.clock.at += SECOND
        await try_capture(memory, "second", memory.clock.at)
        assert memory.services.committer.is_behind
        person.close()
        await try_capture(memory, "third", memory.clock.at)
        assert await told(memory) == [("second", "Bash"), ("third", "Bash")]


@pytest.mark.parametrize("session", ["", "first"])
async def test_a_clock_that_is_set_back_opens_nothing_that_is_off(tmp_path: Path, session: str) -> None:
    """What arrives is judged by its arrival; what is told later and was of then, or may have been, is not kept."""
    clock = SetClock()
    async with opened(tmp_path, clock) as memory:
        await memory.ask("pause", session=session)
        clock.at += 5 * MINUTE
        clock.set_by(-10 * MINUTE)
        for way in ("live", "spooled", "read"):
            clock.at += SECOND
            await try_capture(memory, "first", clock.at, way=way)
        assert await told(memory) == []


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("set_by", [-10, -2, 20])
async def test_what_was_off_stays_off_however_the_clock_was_set_meanwhile(
    tmp_path: Path, set_by: int, restarts: bool
) -> None:
    """A pause from 12:00 to 11:58 is no time at all; a backfill that comes later would bring all of it in."""
    clock = SetClock()
    async with opened(tmp_path, clock) as memory:
        await memory.ask("pause")
        clock.at += 5 * MINUTE
        before = clock.at - SECOND
        clock.set_by(set_by * MINUTE)
        clock.at += 3 * MINUTE
        after = clock.at - SECOND
        if not restarts:
            await memory.ask("resume")
    async with opened(tmp_path, clock) as memory:
        if restarts:
            await memory.ask("resume")
        await memory.services.committer.run(lambda _: None)
    await rebuilt(tmp_path)
    async with opened(tmp_path, clock) as memory:
        for ts in (before, after):
            for way in ("spooled", "read"):
                await try_capture(memory, "first", ts, way=way)
        assert await told(memory) == []
        clock.at += SECOND
        await try_capture(memory, "first", clock.at)
        assert await told(memory) == [("first", "Bash")], "what happens from now on is kept, by whatever clock"


async def test_a_log_of_an_earlier_version_tells_what_was_off_without_its_length(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.services.intents.keep("opt-out", {"session": "", "since": NOW})
        await memory.services.intents.keep("opt-in", {"session": "", "until": NOW - MINUTE})
    async with opened(tmp_path) as memory:
        await try_capture(memory, "first", NOW - SECOND, way="read")
        assert await told(memory) == []
        assert await memory.rows("SELECT since, until FROM opt_outs") == [(NOW - MINUTE, NOW)]


async def test_an_opt_out_outlives_the_daemon_and_the_database(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.ask("pause", session="first")
    for prepare in (None, rebuilt):
        if prepare is not None:
            await prepare(tmp_path)
        async with opened(tmp_path) as memory:
            await try_capture(memory, "first", NOW + 1)
            assert await told(memory) == []


async def test_what_happens_while_paused_is_never_kept_and_after_it_everything_is(tmp_path: Path) -> None:
    """Not by a backfill later either: it tells of the same moments."""
    async with opened(tmp_path) as memory:
        since = (await memory.ask("pause"))["since"]
        assert (await memory.ask("info"))["pausedSince"] == since
        memory.clock.at += 10 * SECOND
        await try_capture(memory, "first", NOW + 5 * SECOND)
        assert (await memory.ask("resume"))["since"] == since
        assert (await memory.ask("info"))["pausedSince"] is None
        await try_capture(memory, "first", NOW + 11 * SECOND)
        await try_capture(memory, "first", NOW + 6 * SECOND)
        assert len(await told(memory)) == 1
        assert (await memory.ask("resume"))["since"] is None


async def test_a_word_in_a_prompt_opts_the_session_out_for_backfill_too(tmp_path: Path) -> None:
    home = tmp_path / "claude"
    folder = home / "projects" / "-w"
    folder.mkdir(parents=True)
    lines = [
        {
            "type": "user",
            "message": {"role": "user", "content": text},
            "uuid": f"u{n}",
            "sessionId": "s",
            "cwd": str(tmp_path),
            "timestamp": f"2026-01-01T00:00:0{n}.000Z",
            "promptId": f"p{n}",
        }
        for n, text in enumerate(("Mend the parser.", f"Now it is private. {OPT_OUT_WORD}", "And more of it."))
    ]
    (folder / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    async with opened(tmp_path) as memory:
        for _ in range(2):
            await memory.ask("backfill", paths=[str(folder / "s.jsonl")], anyWorkspace=True)
        prompts = await memory.rows("SELECT json_extract(payload_json, '$.prompt') FROM events")
        assert prompts == [("Mend the parser.",)]
        assert b"private" not in memory.log_bytes()


def hook(session: str, event: str, number: int, **fields: Any) -> bytes:
    envelope = {"session_id": session, "hook_event_name": event, "cwd": "/w", **fields}
    header = {"client": "claude-code", "frameUid": f"{number:032}", "root": "/w", "ts": NOW + number}
    return encode_hook(json.dumps(header).encode(), json.dumps(envelope).encode())


async def test_a_word_in_a_prompt_that_was_spooled_opts_the_session_out(tmp_path: Path) -> None:
    """No daemon ran: the spool keeps the wish, not the prompt, and what followed is dropped when it is taken in."""
    async with opened(tmp_path) as memory:
        frames = hook("s", "UserPromptSubmit", 1, prompt=f"Private. {OPT_OUT_WORD}") + hook(
            "s", "PostToolUse", 2, tool_name="Bash", tool_input={"command": "make"}, tool_response={}, tool_use_id="t"
        )
        spool_frames(io.BytesIO(frames), lambda _: Spool(memory.services.paths.spool, memory.services.intake), NOW)
        await memory.take_spool()
        assert await told(memory) == []
        assert not list(Path(memory.services.paths.spool).glob("*"))


def test_a_folder_is_excluded_and_taken_back_without_touching_other_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "home" / "default" / "config.json"
    config.parent.mkdir(parents=True, mode=0o700)
    config.write_text('{"memory": {"backend": "extractive"}, "capture": {"ignore": ["Grep"]}}')
    home = Home(str(tmp_path / "home"))
    context = Context(home, Workspace(str(tmp_path), "0123456789abcdef"), {}, str(tmp_path))

    def run(*arguments: str) -> list[str]:
        from siftd.cli.command_table import parse

        assert exclude.run(context, parse("exclude", exclude, [*arguments, "--json"])) == 0
        excluded: list[str] = json.loads(capsys.readouterr().out)["excluded"]
        return excluded

    assert run("--list") == []
    with pytest.raises(RequestInvalid, match="no such folder"):
        run(str(tmp_path / "secret"))
    (tmp_path / "secret").mkdir()
    assert run(str(tmp_path / "secret")) == [str(tmp_path / "secret")]
    assert run(str(tmp_path / "secret")) == [str(tmp_path / "secret")]
    assert json.loads(config.read_text()) == {
        "memory": {"backend": "extractive"},
        "capture": {"ignore": ["Grep"], "exclude": [str(tmp_path / "secret")]},
    }
    assert run("--remove", str(tmp_path / "secret")) == []
    with pytest.raises(RequestInvalid):
        run("--remove", str(tmp_path / "secret"))
