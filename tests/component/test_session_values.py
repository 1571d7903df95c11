"""Hidden once, hidden everywhere: what a session redacted under a name, wherever else it stands in that session."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from opened_memory import NOW, Hands, Memory, opened, rebuilt
from test_opt_outs import hook

from siftd.capture.intake import Intake
from siftd.config import Settings
from siftd.daemon.erasure.hide_values import REST
from siftd.daemon.services import HIDE
from siftd.log import sealing
from siftd.log.spool import Spool, spool_frames
from siftd.redact import Redactor, session_values
from siftd.redact.session_values import EVENT_MAX, NAME, SessionValues
from siftd.redact.values import KnownValues
from siftd.store import snapshots

SECRET = "Tulip-Garden42"
NAMED = {"tool_input": {"command": f"export DB_PASSWORD='{SECRET}'"}, "tool_response": {"stdout": ""}}
BARE = {"tool_input": {"command": f"echo {SECRET} | tee note"}, "tool_response": {"stdout": f"{SECRET}\n"}}
PLACEHOLDER = f"[REDACTED:{NAME}:"


def holders(home: Path, *words: str) -> list[str]:
    """Return the files of the workspaces that hold one of the words, in any case, compressed ones opened."""
    found = []
    for each in sorted(home.rglob("*")):
        data = each.read_bytes() if each.is_file() else b""
        data += gzip.decompress(data) if each.suffix == ".gz" else b""
        if any(word.lower().encode() in data.lower() for word in words):
            found.append(each.name)
    return found


async def payloads(memory: Memory, session: str = "first") -> str:
    rows = await memory.rows("SELECT payload_json FROM events WHERE session_id = ? ORDER BY id", session)
    return "\n".join(str(row[0]) for row in rows)


async def test_what_was_named_once_is_hidden_in_every_later_event_of_its_session(tmp_path: Path) -> None:
    """Equal secrets look equal: the digits are those of the placeholder with the name."""
    async with opened(tmp_path) as memory:
        await memory.capture(1, payload=NAMED)
        await memory.capture(2, payload=BARE)
        prompt = {"prompt": f"and try {SECRET} there, or in base64 VHVsaXAtR2FyZGVuNDI="}
        await memory.capture(3, tool="UserPromptSubmit", payload=prompt, uid="asked")
        told = await payloads(memory)
        digits = told.partition("[REDACTED:password:")[2][:4]
        assert told.count(f"{PLACEHOLDER}{digits}]") == 3
        assert "VHVsaXAtR2FyZGVuNDI" not in told
    assert holders(tmp_path / "home", SECRET) == []


async def test_what_is_named_in_an_answer_is_hidden_in_its_own_question(tmp_path: Path) -> None:
    payload = {
        "tool_input": {"command": f"grep -n {SECRET} app.env"},
        "tool_response": {"stdout": f"PASSWORD={SECRET}\n"},
    }
    async with opened(tmp_path) as memory:
        await memory.capture(1, payload=payload)
    assert holders(tmp_path / "home", SECRET) == []


async def test_another_session_keeps_its_own_words(tmp_path: Path) -> None:
    """What is a password in one may be a file's name in another."""
    async with opened(tmp_path) as memory:
        await memory.capture(1, payload=NAMED)
        await memory.capture(2, payload=BARE, sessionId="second")
        await memory.services.consolidator.do(HIDE)
        assert (await payloads(memory, "second")).count(SECRET) == 2


async def fill(memory: Memory) -> None:
    """Store the secret bare by every way, over two segments, drained, with a snapshot; then name it."""
    paths = memory.services.paths
    await memory.capture(1)
    await memory.capture(2, tool="UserPromptSubmit", payload={"prompt": f"Try {SECRET} on it"}, uid="asked")
    await memory.capture(3, payload=BARE, uid="called")
    await memory.services.committer.seal_log()
    await memory.capture(
        4, payload={"tool_input": {"file_path": f"/src/{SECRET}"}, "tool_response": {SECRET: [[SECRET]]}}
    )
    await memory.capture(5, tool="Stop", payload={"last_assistant_message": f"It took {SECRET}."}, uid="ended")
    await memory.ask("remember", text=f"The box takes {SECRET} as it is.", tags=[SECRET], sessionId="first")
    await memory.services.consolidator.indexer.run_all()
    await memory.ask("drain")
    snapshots.make_snapshot(paths.database, paths.snapshots)
    sealing.compress(paths.wal)
    assert len(holders(Path(paths.home.root), SECRET)) >= 3
    await memory.capture(6, payload=NAMED)


async def test_what_was_stored_before_is_hidden_in_every_file_and_all_else_stays(tmp_path: Path) -> None:
    """Log, rows, summaries, indexes, snapshots: as a scrub does it, without being asked."""
    home = tmp_path / "home"
    async with opened(tmp_path) as memory:
        await fill(memory)
        await memory.capture(
            7, sessionId="second", payload={"tool_input": {}, "tool_response": {"stdout": "untouched"}}
        )
        before = await memory.rows("SELECT id, ts, session_id, tool, uid, input_hash FROM events ORDER BY id")
        await memory.services.consolidator.do(HIDE)
        assert holders(home, SECRET, "garden42") == []
        after = await memory.rows("SELECT id, ts, session_id, tool, uid, input_hash FROM events ORDER BY id")
        assert [row[:5] for row in after] == [row[:5] for row in before]
        assert [row[0] for row, old in zip(after, before, strict=True) if row != old] == [2, 3, 4, 5]
        assert await memory.rows("SELECT 1 FROM facts WHERE text LIKE '%[REDACTED:session-value:%'") == [(1,)]
        await memory.ask("drain")
        assert (await memory.ask("info"))["counts"]["raw"] == 0
        assert (await memory.ask("search", query="the box takes it as it is"))["hits"] != []
        assert holders(home, SECRET, "garden42") == []
        events = await memory.rows("SELECT id, payload_json, input_hash FROM events ORDER BY id")
    await rebuilt(tmp_path)
    for each in snapshots.list_snapshots(memory.services.paths.snapshots):
        each.path.unlink()
    async with opened(tmp_path) as memory:
        assert await memory.rows("SELECT id, payload_json, input_hash FROM events ORDER BY id") == events
    assert holders(home, SECRET) == []


async def test_a_tick_hides_before_it_summarises(tmp_path: Path) -> None:
    """No backend is given what the session has redacted since."""
    async with opened(tmp_path) as memory:
        await memory.capture(1, payload=BARE)
        await memory.capture(2, payload=NAMED)
        await memory.services.consolidator.tick()
        told = await memory.rows("SELECT text FROM summaries ORDER BY id")
        assert len(told) >= 2
        assert not any(SECRET in text for (text,) in told)
    assert holders(tmp_path / "home", SECRET) == []


async def test_nothing_is_rewritten_where_nothing_is_found(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.capture(1)
        await memory.capture(2, payload=NAMED)
        wal, files = memory.log_bytes(), sorted(each.name for each in Path(memory.services.paths.folder).iterdir())
        await memory.services.consolidator.do(HIDE)
        assert memory.log_bytes() == wal
        assert sorted(each.name for each in Path(memory.services.paths.folder).iterdir()) == files
        assert memory.services.intake.values.unsought() == {}


async def test_rounds_rest_for_a_multiple_of_what_they_took(tmp_path: Path) -> None:
    """A session that learns at every turn keeps no more of the machine busy than a twentieth."""

    class Slow(Hands):
        def monotonic(self) -> float:
            self.at += 1_000
            return super().monotonic()

    async with opened(tmp_path, Slow()) as memory:
        hider, values = memory.services.hider, memory.services.intake.values
        values.learn("first", ["Copper_Kettle77"])
        await hider.run()
        assert values.unsought() == {}
        values.learn("first", ["Velvet_Anvil88"])
        await hider.run()
        assert list(values.unsought()) == ["first"]
        memory.clock.at += REST * 2_000
        await hider.run()
        assert values.unsought() == {}


async def test_a_round_that_fails_is_done_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.capture(1, payload=BARE)
        await memory.capture(2, payload=NAMED)
        database = Path(memory.services.paths.database)
        database.rename(database.with_suffix(".away"))
        await memory.services.consolidator.do(HIDE)
        database.with_suffix(".away").rename(database)
        assert list(memory.services.intake.values.unsought()) == ["first"]
        await memory.services.consolidator.do(HIDE)
    assert holders(tmp_path / "home", SECRET) == []


async def test_a_stop_in_good_order_hides_what_was_learnt_last(tmp_path: Path) -> None:
    """The hashes end with the process: what was not looked for then stays."""
    async with opened(tmp_path) as memory:
        await memory.capture(1, payload=BARE)
        await memory.capture(2, payload=NAMED)
        await memory.services.finish()
    assert holders(tmp_path / "home", SECRET) == []


async def test_a_scrub_hides_everywhere_what_todays_rules_find_by_its_name(tmp_path: Path) -> None:
    """It was stored, named and bare, by a siftd whose rules did not know the name."""
    async with opened(tmp_path) as memory:
        for number in (1, 2):
            await memory.capture(number)
        for number, payload in ((1, BARE), (2, NAMED)):
            text = json.dumps(payload, separators=(",", ":"), sort_keys=True)
            await memory.by_hand("UPDATE events SET payload_json = ? WHERE id = ?", text, number)
        assert (await memory.ask("scrub", dryRun=True))["changed"]["events"] == 1
        assert SECRET in await payloads(memory), "a dry run teaches nothing"
        assert memory.services.intake.values.unsought() == {}
        await memory.ask("scrub", dryRun=False)
    assert holders(tmp_path / "home", SECRET) == []


async def test_after_a_restart_a_value_is_hidden_from_where_it_is_named_again(tmp_path: Path) -> None:
    """Nothing is kept to test guesses with, so this is forgotten with the process."""
    async with opened(tmp_path) as memory:
        await memory.capture(1, payload=NAMED)
    async with opened(tmp_path) as memory:
        await memory.capture(2, payload=BARE)
        assert SECRET in await payloads(memory)
        await memory.capture(3, payload=NAMED)
        await memory.services.consolidator.do(HIDE)
    assert holders(tmp_path / "home", SECRET) == []


@pytest.mark.parametrize("is_named_first", [True, False])
async def test_a_backfill_hides_what_its_transcript_names_anywhere(tmp_path: Path, is_named_first: bool) -> None:
    texts = [f"Is {SECRET} still right?", f"PASSWORD={SECRET}"]
    lines = [
        {
            "type": "user",
            "message": {"role": "user", "content": text},
            "uuid": f"u{number}",
            "sessionId": "s",
            "cwd": str(tmp_path),
            "timestamp": f"2026-01-01T00:00:0{number}.000Z",
            "promptId": f"p{number}",
        }
        for number, text in enumerate(texts[::-1] if is_named_first else texts)
    ]
    file = tmp_path / "claude" / "projects" / "-w" / "s.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    async with opened(tmp_path) as memory:
        await memory.ask("backfill", paths=[str(file)], anyWorkspace=True)
        assert (await payloads(memory, "s")).count("[REDACTED:") == 2
    assert holders(tmp_path / "home", SECRET) == []


async def test_frames_that_are_spooled_together_hide_alike_and_the_daemon_hides_what_it_knows(tmp_path: Path) -> None:
    """The courier's process is another: it learns from the frames that it is given, the daemon from its own."""

    def ran(number: int, payload: dict[str, Any]) -> bytes:
        return hook("first", "PostToolUse", number, tool_name="Bash", tool_use_id=f"t{number}", **payload)

    async with opened(tmp_path) as memory:
        paths = memory.services.paths
        other = Intake(paths, Settings())
        spool_frames(io.BytesIO(ran(1, NAMED) + ran(2, BARE)), lambda _: Spool(paths.spool, other), NOW)
        assert holders(Path(paths.spool), SECRET) == []
        await memory.capture(3, payload=NAMED)
        spool_frames(io.BytesIO(ran(4, BARE)), lambda _: Spool(paths.spool, Intake(paths, Settings())), NOW)
        await memory.take_spool()
        assert (await payloads(memory)).count(PLACEHOLDER) == 4
    assert holders(tmp_path / "home", SECRET) == []


async def test_a_value_that_is_the_sessions_own_id_tears_no_session_in_two(tmp_path: Path) -> None:
    """A hostile page may name any word a password; ids, tools and folders stay what they are."""
    payload = {"tool_input": {}, "tool_response": {"stdout": "password: 5e55-ab12-cd34\npassword: Bash-tool9\n"}}
    async with opened(tmp_path) as memory:
        await memory.capture(1, payload=payload, sessionId="5e55-ab12-cd34")
        await memory.capture(2, sessionId="5e55-ab12-cd34", tool="Bash-tool9", cwd="/src/Bash-tool9")
        await memory.services.consolidator.do(HIDE)
        rows = await memory.rows("SELECT session_id, tool FROM events ORDER BY id")
        assert rows == [("5e55-ab12-cd34", "Bash"), ("5e55-ab12-cd34", "Bash-tool9")]


def test_words_numbers_and_short_values_are_not_taken(tmp_path: Path) -> None:
    """`MYSQL_PASSWORD=wordpress` must not blank every path with the word in it."""
    values = SessionValues()
    redactor = Redactor(b"s")
    for value in ("wordpress", "frontend", "hunter2", "20262026", "${DB_PASSWORD}"):
        learnt: list[str] = []
        redactor.text(f"MYSQL_PASSWORD={value}\n", learn=learnt.append)
        values.learn("s", learnt)
    values.learn(
        "s", ["handling**", "(Frontend)", "`wordpress`", "TestIsOnDefaultBranch", "username=", "external_wallet';"]
    )
    assert values.known("s") is None


def found(known: KnownValues | None, text: str) -> bool:
    return known is not None and bool(known.find(text))


def test_a_value_is_known_as_it_is_written_and_as_it_is_meant() -> None:
    values = SessionValues()
    values.learn("s", ["Winter%2371_Harbor", 'a\\"b7Tulip99'])
    known = values.known("s")
    assert found(known, "psql with Winter#71_Harbor")
    assert found(known, 'it is a"b7Tulip99 now')


def test_memory_is_bounded_by_sessions_and_by_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those used last stay; what nobody will look for any more is counted."""
    monkeypatch.setattr(session_values, "SESSIONS_MAX", 8)
    monkeypatch.setattr(session_values, "IN_ALL_MAX", 100)
    monkeypatch.setattr(session_values, "VALUES_MAX", 60)
    values = SessionValues()
    for number in range(9):
        values.learn(f"s{number}", [f"Kettle-{number:04}"])
        assert values.known("s0") is not None, "it is used"
    assert values.known("s1") is None
    for number in range(70):
        values.learn("s0", [f"Velvet-{number:04}"])
    assert not found(values.known("s0"), "Kettle-0000")
    assert found(values.known("s0"), "Velvet-0069")
    assert values.known("s8") is not None
    for number in range(70):
        values.learn("t", [f"Velvet-{number:04}"])
    assert values.known("s0") is None
    sought = values.unsought()
    assert sum(map(len, sought.values())) <= 100
    assert values.missed == 9 + 140 - sum(map(len, sought.values()))


def test_one_event_teaches_no_more_than_a_moments_worth() -> None:
    """A page with a hundred thousand passwords must not keep the daemon busy for seconds."""
    values = SessionValues()
    values.learn("s", [f"Kettle-{number:06}" for number in range(EVENT_MAX * 3)])
    assert len(values.unsought()["s"]) == EVENT_MAX


def test_what_is_learnt_while_others_are_sought_stays_to_be_sought() -> None:
    values = SessionValues()
    values.learn("s", ["Kettle-0001"])
    sought = values.unsought()
    values.learn("s", ["Kettle-0002"])
    values.note_sought(sought)
    left = values.finders(values.unsought()).known("s")
    assert found(left, "Kettle-0002")
    assert not found(left, "Kettle-0001")


def test_of_a_value_nothing_is_kept_that_it_could_be_read_from() -> None:
    values = SessionValues()
    values.learn("s", [SECRET])
    kept = repr((values.by_session, values.not_yet_sought))
    assert SECRET[:6] not in kept
    assert SECRET[6:] not in kept
