"""Forgetting: gone from every file of ours, and never back by any way."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from known_kinds import named
from opened_memory import DAY, NOW, Hands, Memory, SetClock, opened, rebuilt
from transcript_files import SessionFile

from siftd.capture.admission import as_stored
from siftd.errors import RequestInvalid
from siftd.log import segments
from siftd.log.recovery import iter_records
from siftd.model import Event, SessionChange
from siftd.store import snapshots
from siftd.store.forget_matching import ForgetQuery, match
from siftd.wire.requests import Backfill
from siftd.workspace.home import write_private
from siftd.workspace.identity import find_workspace

WORD = "zanzibar"
"""What is told once and must be in no byte of the home after it was forgotten."""


def everywhere(home: Path, word: str = WORD) -> list[str]:
    """Return the files below the home that hold the word, compressed ones opened."""
    found = []
    for each in sorted(home.rglob("*")):
        if each.is_file():
            data = each.read_bytes()
            data += gzip.decompress(data) if each.suffix == ".gz" else b""
            if word.encode() in data.lower():
                found.append(each.name)
    return found


async def tell(memory: Memory, text: str = WORD, *, session: str = "s1", **more: Any) -> int | None:
    """Keep a call of a client that gives ids, as a hook delivers it."""
    frame_uid = more.pop("frame_uid", None)
    receipt = await memory.services.committer.keep(
        memory.services.intake.admit(event(text, session=session, **more), frame_uid=frame_uid)
    )
    assert receipt.error is None
    return receipt.event_id


def event(text: str, *, session: str = "s1", tool: str = "Bash", **more: Any) -> Event:
    payload = more.pop("payload", None) or {
        "tool_input": {"command": f"echo {text}"},
        "tool_response": {"stdout": text},
    }
    native = more.pop("native_id", text)
    told = {"ts": NOW - DAY, "identity": ("tool", native or text), "native_id": native, "outcome": "ok"} | more
    return Event(client="claude-code", session_id=session, **named(tool), payload=payload, **told)


async def forget(memory: Memory, **asked: Any) -> dict[str, Any]:
    return await memory.ask("forget", dryRun=False, **asked)


async def ids(memory: Memory) -> list[int]:
    return [row[0] for row in await memory.rows("SELECT id FROM events ORDER BY id")]


async def test_a_dry_run_counts_and_changes_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await tell(memory)
        await tell(memory, "other")
        before = memory.log_bytes()
        answer = await memory.ask("forget", ids=["e1"])
        assert (answer["matched"], answer["byKind"]["tool"], answer["pending"]) == (1, 1, [])
        assert memory.log_bytes() == before
        assert await ids(memory) == [1, 2]


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        {"ids": ["e2"]},
        {"ids": ["2"]},
        {"ids": ["its summary"]},
        {"session": "secret-session"},
        {"session": "secret"},
        {"file": "/src/zanzibar.py"},
        {"file": "zanzibar.py"},
        {"file": "*/zanz*.py"},
        {"query": 'ZANZIBAR.py\nis "here"'},
        {"query": "Zanzibar"},
        {"since": NOW - 2 * DAY - 10, "until": NOW - 2 * DAY + 10},
    ],
    ids=repr,
)
async def test_no_byte_of_the_home_holds_what_was_forgotten(tmp_path: Path, asked: dict[str, Any]) -> None:
    payload = {
        "tool_input": {"file_path": "/src/zanzibar.py", "content": 'zanzibar.py\nis "here"'},
        "tool_response": {"filePath": "/src/zanzibar.py"},
    }
    secret = {"session": "secret-session", "tool": "Write", "payload": payload, "ts": NOW - 2 * DAY}
    home = tmp_path / "home"
    async with opened(tmp_path) as memory:
        paths = memory.services.paths
        await tell(memory, "first")
        assert await tell(memory, **secret, frame_uid="f2") == 2
        await tell(memory, "last", ts=NOW - DAY)
        await memory.services.consolidator.indexer.run_all()
        await memory.ask("drain")
        snapshots.make_snapshot(paths.database, paths.snapshots)
        await memory.services.committer.seal_log()
        await tell(memory, "newest")
        await memory.services.maintenance.run()
        Path(paths.quarantine).mkdir()
        write_private(Path(paths.quarantine) / "corrupt-1", b"half a line of Zanzibar")
        write_private(Path(f"{paths.database}.damaged-1"), b"an old database of Zanzibar")
        assert len(everywhere(home)) >= 5

        if asked == {"ids": ["its summary"]}:
            [(summary_id,)] = await memory.rows("SELECT id FROM summaries WHERE event_id = 2")
            asked = {"ids": [f"s{summary_id}"]}
        answer = await forget(memory, **asked)
        assert (answer["matched"], answer["pending"]) == (1, [])
        assert everywhere(home) == []
        assert await ids(memory) == [1, 3, 4]
        assert [each.seq for each in iter_records(paths.wal)][:3] == [1, 3, 4]
        assert (await memory.ask("search", query="zanzibar", filters={"kind": "event"}))["hits"] == []
        assert await tell(memory, **secret, frame_uid="f2") is None
    assert everywhere(home) == []
    async with opened(tmp_path) as memory:
        assert await ids(memory) == [1, 3, 4]
        assert await tell(memory, **secret, frame_uid="f3") is None
        assert await tell(memory, **secret, from_transcript=True) is None
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert await ids(memory) == [1, 3, 4]
        assert await tell(memory, **secret, from_transcript=True) is None
        assert everywhere(home) == []
        for each in snapshots.list_snapshots(paths.snapshots):
            each.path.unlink()
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert await ids(memory) == [1, 3, 4]
        assert await tell(memory, **secret) is None
        await tell(memory, "later")
        assert everywhere(home) == []
    wal = Path(paths.wal)
    assert sorted(each.seq for each in iter_records(str(wal)))[-1] > 5


@pytest.mark.parametrize(
    "asked", [{"session": "secret-session"}, {"since": NOW - 2 * DAY - 10, "until": NOW - 2 * DAY + 10}], ids=repr
)
async def test_a_session_of_which_nothing_is_left_is_named_nowhere(tmp_path: Path, asked: dict[str, Any]) -> None:
    async with opened(tmp_path) as memory:
        paths = memory.services.paths
        await tell(memory, "first")
        await tell(memory, session="secret-session", ts=NOW - 2 * DAY, frame_uid="f2")
        told = [f'{{"event_id":{number},"session":"{each}"}}' for number, each in enumerate(["s1", "secret-session"])]
        for file in (paths.daemon_log, f"{paths.daemon_log}.1"):
            write_private(Path(file), ("\n".join(told) + "\n").encode())
        await memory.ask("drain")
        for session in ("s1", "secret-session"):
            told_to = "INSERT INTO injections (ts, session_id, hook, piece, event_id, after_id, why)"
            await memory.by_hand(f"{told_to} VALUES (1, ?, 'SessionStart', 'e1', 1, 1, '{{}}')", session)
        assert (await forget(memory, **asked))["matched"] == 1
        assert everywhere(tmp_path / "home", "secret-session") == []
        assert await memory.rows("SELECT session_id FROM injections") == [("s1",)]
        lines = [json.loads(line) for line in Path(paths.daemon_log).read_text().splitlines()]
        assert [line["session"] for line in lines] == ["s1", "-" * 14]
        assert await tell(memory, session="secret-session", ts=NOW - 2 * DAY, frame_uid="f2") is None
        assert everywhere(tmp_path / "home", "secret-session") == []


async def test_backfill_of_the_same_transcript_brings_nothing_back(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    told = SessionFile(tmp_path / "claude", folder, "s1")
    told.prompt(f"find {WORD}").call("t1", "Bash", command=f"grep {WORD}").call("t2", "Bash", command="ls").say("done")
    copy = SessionFile(tmp_path / "claude", folder, "s2")
    async with opened(tmp_path) as memory:
        memory.services.transfer.workspace = find_workspace(str(folder))

        async def fill() -> int:
            request = Backfill(folder=str(tmp_path / "claude" / "projects"))
            return (await memory.services.transfer.backfill(request, nobody)).captured

        assert await fill() == 4
        assert (await forget(memory, query=WORD))["byKind"] == {
            "tool": 1,
            "prompt": 1,
            "stop": 1,
            "summary": 0,
            "memory": 0,
            "pod": 0,
            "document": 0,
            "note": 0,
            "snapshotLine": 0,
            "record": 0,
            "session": 0,
            "title": 0,
            "folder": 0,
        }
        assert await fill() == 0
        copy.call("t1", "Bash", command=f"grep {WORD}")
        assert await fill() == 0
        assert everywhere(tmp_path / "home") == []
        assert len(await ids(memory)) == 1


async def nobody(*_: Any) -> None:
    """Hear nothing of the progress."""


async def test_a_spool_file_that_comes_late_is_not_taken_in(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        spool = Path(memory.services.paths.spool)
        admitted = memory.services.intake.admit(event(WORD), frame_uid="f1")
        file = msgspec.json.encode({"version": 1, **as_stored(admitted)})
        write_private(spool / "1-f1.json", file)
        assert (await forget(memory, query=WORD))["matched"] == 1
        assert list(spool.iterdir()) == []
        write_private(spool / "2-f1.json", file)
        await memory.ask("drain")
        assert list(spool.iterdir()) == []
        assert await ids(memory) == []
        assert everywhere(tmp_path / "home") == []


async def test_a_text_is_forgotten_whether_its_accents_are_composed_or_apart(tmp_path: Path) -> None:
    """A file's name from macOS has them apart; a person types them in one."""
    async with opened(tmp_path) as memory:
        await tell(memory, "cafe\u0301 Zwei\u0301")
        await tell(memory, "CAF\u00c9 drei")
        await tell(memory, "cafe vier")
        assert (await forget(memory, query="caf\u00e9"))["matched"] == 2


async def test_a_session_a_file_and_a_time_stay_forgotten_for_what_nobody_has_seen_yet(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await tell(memory, "known", session="gone")
        await forget(memory, session="gone")
        assert await tell(memory, "unseen", session="gone") is None
        assert await tell(memory, "after", session="gone", ts=NOW + 1) is not None
        await forget(memory, file="secret.py")
        about = {"tool_input": {"file_path": "/a/secret.py"}, "tool_response": {}}
        assert await tell(memory, "unseen file", payload=about) is None
        assert await tell(memory, "after file", payload=about, ts=NOW + 1) is not None
        await forget(memory, since=NOW - 9 * DAY, until=NOW - 5 * DAY)
        assert await tell(memory, "unseen time", ts=NOW - 6 * DAY) is None
        assert await tell(memory, "seen time", ts=NOW - 4 * DAY) is not None


def prompt(text: str, occurrence: int | None = None) -> dict[str, Any]:
    told = {"payload": {"prompt": text}, "tool": "UserPromptSubmit", "native_id": None, "identity": ("prompt", text)}
    return told | {"occurrence": occurrence, "from_transcript": occurrence is not None, "outcome": None}


async def test_prompts_told_apart_by_counting_count_the_forgotten_ones(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        assert [await tell(memory, **prompt("go on")) for _ in range(3)] == [1, 2, 3]
        await forget(memory, ids=["e2"])
        assert await tell(memory, **prompt("go on", 2)) is None
        assert await tell(memory, **prompt("go on", 3)) == 3
        again = await tell(memory, **prompt("go on"))
        assert again == 5
        assert await tell(memory, **prompt("go on", 4)) == again


async def test_the_closing_words_of_the_turn_and_of_the_subagent_go_too(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await tell(memory, "start", spawned_agent_id="a1", prompt_id="p1")
        await tell(memory, WORD, agent_id="a1", prompt_id="p1")
        stop = {"tool": "SubagentStop", "payload": {"last_assistant_message": WORD}, "agent_id": "a1"}
        await tell(memory, "agent done", **stop)
        await tell(memory, "done", tool="Stop", payload={"last_assistant_message": f"I saw {WORD}"}, prompt_id="p1")
        await tell(memory, "other", tool="Stop", payload={"last_assistant_message": "fine"}, prompt_id="p2")
        await forget(memory, ids=["e2"])
        assert await ids(memory) == [5]
        assert everywhere(tmp_path / "home") == []


async def test_a_summary_that_took_a_forgotten_word_from_the_prompt_is_written_anew(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        asked = {"tool": "UserPromptSubmit", "payload": {"prompt": f"rename {WORD}"}, "prompt_id": "p1"}
        await tell(memory, "asked", **asked)
        await tell(memory, "call", prompt_id="p1")
        await memory.ask("drain")
        await memory.by_hand("UPDATE summaries SET text = ? WHERE event_id = 2", f"did it for {WORD}")
        await memory.by_hand("INSERT INTO summary_cache (cache_key, text, ts) VALUES ('k', ?, 1)", f"did it for {WORD}")
        answer = await forget(memory, query=WORD)
        assert (answer["byKind"]["prompt"], answer["byKind"]["tool"]) == (1, 0)
        assert await memory.rows("SELECT id, status FROM events") == [(2, "raw")]
        assert everywhere(tmp_path / "home") == []


async def test_a_text_is_forgotten_in_names_too(tmp_path: Path) -> None:
    """Titles, folders, tools, sessions' ids and sources are no payload, and what is counted as forgotten has to go."""
    async with opened(tmp_path) as memory:
        admission = memory.services.intake.admission
        await memory.ask("converse", title=f"The {WORD} affair", id="named")
        start = SessionChange(client="c", session_id="s1", change="start", ts=NOW, cwd=f"/src/{WORD}/app")
        await memory.services.committer.keep(admission.admit_change(start))
        stays = await tell(memory, "other", cwd=f"/src/{WORD.upper()}/app")
        await tell(memory, "call", tool=f"mcp__{WORD}__query")
        await tell(memory, "talk", session=f"about-{WORD}")
        await memory.ask("remember", text="The door is green", source=f"client {WORD}")
        await memory.ask("drain")
        told = await forget(memory, query=WORD)
        found = {kind: number for kind, number in told["byKind"].items() if number}
        assert found == {"tool": 2, "summary": 2, "memory": 1, "record": 1, "session": 1, "title": 1, "folder": 2}
        assert (told["pending"], told["left"]) == ([], [])
        assert everywhere(tmp_path / "home") == []
        assert await ids(memory) == [stays]
        assert await memory.rows("SELECT session_id, cwd FROM sessions") == [("s1", None)]
        assert await memory.rows("SELECT count(*) FROM conversations") == [(0,)]
        told_again = {"id": "named", "title": f"The {WORD} affair", "parent": None, "relation": None, "ts": NOW}
        intent = admission.admit_intent("conversation", told_again, ts=NOW, session_id="named")
        await memory.services.committer.keep(intent, way="read")
        assert everywhere(tmp_path / "home") == [], "an import does not bring it back"
        later = SessionChange(client="c", session_id="s2", change="start", ts=NOW + 10, cwd=f"/src/{WORD}/app")
        memory.clock.at += 10
        await memory.services.committer.keep(admission.admit_change(later))
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert await ids(memory) == [stays]
        assert await memory.rows("SELECT session_id, cwd FROM sessions ORDER BY 1") == [
            ("s1", None),
            ("s2", f"/src/{WORD}/app"),
        ], "what comes after it is new"


async def test_it_is_said_that_a_text_stays_in_the_workspaces_own_path(tmp_path: Path) -> None:
    folder = tmp_path / WORD
    folder.mkdir()
    async with opened(folder) as memory:
        await tell(memory, WORD)
        assert (await forget(memory, query=WORD))["left"] == ["the path of this workspace"]


async def test_memories_are_forgotten_by_id_and_by_query_and_stay_so(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        kept = (await memory.ask("remember", text="we deploy on fridays"))["id"]
        gone = (await memory.ask("remember", text=f"the password of {WORD} is long", tags=["ops"]))["id"]
        also = (await memory.ask("remember", text="never on mondays"))["id"]
        await memory.ask("drain")
        [(forgotten_uid,)] = await memory.rows("SELECT uid FROM facts WHERE id = ?", int(gone[1:]))
        assert (await forget(memory, query=WORD))["byKind"]["memory"] == 1
        assert (await forget(memory, ids=[also]))["byKind"]["memory"] == 1
        assert everywhere(tmp_path / "home") == []
        assert await memory.rows("SELECT id FROM facts") == [(int(kept[1:]),)]
        assert gone != kept
        told = {"uid": forgotten_uid, "text": f"again {WORD}", "type": "fact"}
        intent = memory.services.intake.admission.admit_intent("remember", told, ts=NOW)
        assert (await memory.services.committer.keep(intent)).is_duplicate
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        assert await memory.rows("SELECT id FROM facts") == [(int(kept[1:]),)]
        assert everywhere(tmp_path / "home", "mondays") == []


async def test_what_a_person_deleted_by_hand_is_forgotten_in_the_log(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await tell(memory)
        await tell(memory, "other")
        await memory.by_hand("DELETE FROM events WHERE id = 1")
        assert everywhere(tmp_path / "home")
        assert (await forget(memory, query=WORD))["matched"] == 1
        assert everywhere(tmp_path / "home") == []
        assert await tell(memory) is None


async def test_a_long_session_takes_several_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("siftd.store.forget_matching.EVENTS_PER_RECORD", 4)
    async with opened(tmp_path) as memory:
        for number in range(10):
            await tell(memory, f"{WORD}{number}")
        await tell(memory, "other", session="s2")
        assert (await forget(memory, session="s1"))["matched"] == 10
        assert await ids(memory) == [11]
        assert await memory.rows("SELECT count(*) FROM forgets") == [(3,)]
        assert [await tell(memory, f"{WORD}{number}", ts=NOW + 1) for number in range(10)] == [None] * 10
        assert everywhere(tmp_path / "home") == []


async def test_an_equal_payload_elsewhere_stays(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        for native_id in ("t1", "t2"):
            await tell(memory, "same", native_id=native_id)
        await memory.ask("drain")
        await forget(memory, ids=["e1"])
        assert await memory.rows("SELECT event_id FROM summaries") == [(2,)]
        await tell(memory, "same", native_id="t3")
        assert await ids(memory) == [2, 4]


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[list[sqlite3.Connection]]:
    """A person's connections, closed at the end."""
    opened_ones: list[sqlite3.Connection] = []
    yield opened_ones
    for each in opened_ones:
        each.close()


async def test_an_idle_reader_leaves_it_pending_until_it_is_gone(
    tmp_path: Path, reader: list[sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("siftd.store.erasing.READER_MS", 10)
    async with opened(tmp_path) as memory:
        await tell(memory)
        person = sqlite3.connect(memory.services.paths.database, isolation_level=None)
        reader.append(person)
        person.execute("BEGIN")
        person.execute("SELECT count(*) FROM events").fetchone()
        answer = await forget(memory, query=WORD)
        assert len(answer["pending"]) == 1
        assert answer["pending"][0].startswith("a reader of the database")
        assert (await memory.ask("info"))["forget"] == {"pending": answer["pending"]}
        assert await tell(memory, "goes on") is not None
        await memory.services.maintenance.run()
        assert (await memory.ask("info"))["forget"]["pending"]
        person.execute("COMMIT")
        await memory.services.maintenance.run()
        assert (await memory.ask("info"))["forget"] == {"pending": []}
        assert everywhere(tmp_path / "home") == []


async def test_what_is_pending_at_the_end_is_erased_at_the_next_start(
    tmp_path: Path, reader: list[sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("siftd.store.erasing.READER_MS", 10)
    async with opened(tmp_path) as memory:
        await tell(memory)
        person = sqlite3.connect(memory.services.paths.database, isolation_level=None)
        reader.append(person)
        person.execute("BEGIN")
        person.execute("SELECT count(*) FROM events").fetchone()
        assert (await forget(memory, ids=["e1"]))["pending"]
    person.execute("COMMIT")
    async with opened(tmp_path):
        assert everywhere(tmp_path / "home") == []


@pytest.mark.parametrize(
    "asked",
    [{}, {"ids": ["e1"], "query": "x"}, {"session": "a", "file": "b"}, {"ids": ["e1"], "since": 1}, {"ids": ["x9"]}],
    ids=repr,
)
async def test_a_wish_for_nothing_or_for_two_things_is_refused(tmp_path: Path, asked: dict[str, Any]) -> None:
    async with opened(tmp_path) as memory:
        with pytest.raises(RequestInvalid):
            await memory.ask("forget", **asked)


async def test_tombstones_hold_no_text(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await tell(memory, session=f"session-{WORD}", payload={"tool_input": {"file_path": f"/{WORD}.py"}})
        await forget(memory, session=f"session-{WORD}")
        await forget(memory, file=f"{WORD}.py")
        told = [json.loads(bytes(each.payload)) for each in iter_records(memory.services.paths.wal)]
        assert WORD not in str(told)
        assert WORD not in str(await memory.rows("SELECT * FROM tombstones"))
        assert await memory.rows("SELECT count(*) FROM sessions") == [(0,)]


async def test_events_older_than_the_store_keeps_them_are_forgotten(tmp_path: Path) -> None:
    clock = Hands()
    async with opened(tmp_path, clock, store_keepDays=10) as memory:
        await tell(memory, WORD, ts=NOW - 9 * DAY)
        await tell(memory, "young", ts=NOW - DAY)
        assert (await memory.ask("prune"))["events"] == 0
        clock.at = NOW + 2 * DAY
        assert (await memory.ask("prune")) == {"events": 1, "segments": 0, "held": 0, "pending": []}
        assert everywhere(tmp_path / "home") == []
        assert await tell(memory, WORD, ts=NOW - 9 * DAY) is None
        clock.at = NOW + 15 * DAY
        await memory.services.maintenance.run()
        assert await ids(memory) == []
        assert await memory.rows("SELECT count(*) FROM tombstones WHERE kind = 'time'") == [(1,)]


@pytest.mark.parametrize("restarts", [False, True])
async def test_a_clock_that_is_wrong_for_a_minute_makes_nothing_too_old(tmp_path: Path, restarts: bool) -> None:
    """An empty battery, a virtual machine that wakes up: 2037 for two ticks, or at a start, and right again."""
    clock = SetClock()
    async with opened(tmp_path, clock, store_keepDays=90) as memory:
        kept = [await tell(memory, f"word{number}", ts=NOW - DAY + number) for number in range(20)]
        if not restarts:
            clock.set_by(11 * 365 * DAY)
            await memory.services.maintenance.run()
    if restarts:
        clock.set_by(11 * 365 * DAY)
    async with opened(tmp_path, clock, store_keepDays=90) as memory:
        await memory.services.maintenance.run()
        assert (await memory.ask("prune"))["held"] == 20, "and a person is told"
        await tell(memory, "future", ts=clock.at)
        clock.set_by(-11 * 365 * DAY)
        await memory.services.maintenance.run()
        assert (await ids(memory))[:20] == kept
        assert await memory.rows("SELECT * FROM tombstones") == []
        assert await tell(memory, "now", ts=clock.at) is not None


async def test_retention_goes_on_once_events_have_shown_that_time_has_passed(tmp_path: Path) -> None:
    """After a long rest the first start forgets nothing yet: only the clock says that so much time is over."""
    clock = SetClock()
    async with opened(tmp_path, clock, store_keepDays=90) as memory:
        await tell(memory, "old", ts=NOW)
    clock.set_by(200 * DAY)
    async with opened(tmp_path, clock, store_keepDays=90) as memory:
        await memory.services.maintenance.run()
        for number in range(9):
            await tell(memory, f"word{number}", ts=clock.at)
        assert len(await ids(memory)) == 10
    async with opened(tmp_path, clock, store_keepDays=90) as memory:
        await memory.services.maintenance.run()
        assert len(await ids(memory)) == 9


async def forgotten_until(memory: Memory, until: int) -> None:
    """Leave the tombstone that a wrong clock has made."""
    await memory.services.intents.keep("forget", {"scope": "time", "time": True, "since": 0, "until": until})
    await memory.services.forgetter.finish()


@pytest.mark.parametrize("is_of_an_earlier_version", [False, True])
async def test_a_tombstone_that_a_wrong_clock_made_drops_nothing_that_happens_after_it(
    tmp_path: Path, is_of_an_earlier_version: bool
) -> None:
    """Neither when it is captured, nor at the next forget of something else, nor at a rebuild."""
    clock = Hands()
    async with opened(tmp_path, clock) as memory:
        await tell(memory, WORD, ts=NOW - DAY)
        await forgotten_until(memory, NOW + 4000 * DAY)
        if is_of_an_earlier_version:
            await memory.by_hand("UPDATE tombstones SET detail = NULL WHERE until IS NOT NULL")
    async with opened(tmp_path, clock) as memory:
        assert await ids(memory) == []
        clock.at += DAY
        kept = [await tell(memory, "here", ts=clock.at - 10), await tell(memory, "soon", ts=clock.at)]
        other = await tell(memory, "another", ts=clock.at)
        await memory.ask("converse", title="what is new")
        await forget(memory, ids=[f"e{other}"])
        assert await ids(memory) == kept
        assert await memory.rows("SELECT count(*) FROM conversations") == [(1,)]
    await rebuilt(tmp_path)
    async with opened(tmp_path, clock) as memory:
        assert await ids(memory) == kept
        assert await memory.rows("SELECT count(*) FROM conversations") == [(1,)]


async def test_what_a_tombstone_drops_is_counted_and_told(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await tell(memory, WORD, ts=NOW - 2 * DAY)
        await forget(memory, until=NOW - DAY)
        before = (await memory.ask("info"))["captures"]
        assert await tell(memory, "late", ts=NOW - 2 * DAY) is None
        await memory.ask("pause")
        assert await tell(memory, "paused", ts=NOW) is None
        after = (await memory.ask("info"))["captures"]
        assert {name: after[name] - before[name] for name in after if after[name] != before[name]} == {
            "accepted": 1,  # the wish to pause
            "forgotten": 1,
            "off": 1,
        }


async def test_prune_without_a_limit_is_refused(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        with pytest.raises(RequestInvalid):
            await memory.ask("prune")


@pytest.mark.slow
async def test_nothing_comes_back_from_the_pages_that_the_writer_has_in_memory(tmp_path: Path) -> None:
    """Pages are overwritten beneath the daemon; what it writes next must not hold what they held."""
    async with opened(tmp_path) as memory:
        for number in range(300):
            await tell(memory, f"{WORD}{number}" if number % 3 == 0 else f"other{number}", session=f"s{number % 7}")
        await memory.ask("drain")
        kept = await memory.rows(
            "SELECT id, payload_json FROM events WHERE payload_json NOT LIKE ? ORDER BY id", f"%{WORD}%"
        )
        assert (await forget(memory, query=WORD))["pending"] == []
        assert everywhere(tmp_path / "home") == []
        for number in range(100):
            await tell(memory, f"later{number}", session=f"s{number % 7}")
        await memory.by_hand("UPDATE events SET last_error = 'a reason that makes each row longer'")
        await memory.ask("drain")
        await memory.services.maintenance.run()
        assert everywhere(tmp_path / "home") == []
        assert (await memory.rows("SELECT id, payload_json FROM events ORDER BY id"))[: len(kept)] == kept
        assert await memory.rows("PRAGMA integrity_check") == [("ok",)]


async def test_an_event_is_forgotten_without_a_look_at_what_has_nothing_to_do_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its id: the rest of the log is searched for its names, not decoded, and no other row is read."""
    decoded = []
    async with opened(tmp_path) as memory:
        for number in range(40):
            await tell(memory, f"{WORD}{number}" if number == 5 else f"other{number}", session=f"s{number}")
            if number % 10 == 9:
                await memory.services.committer.seal_log()
        await memory.ask("drain")
        decode = segments.read_line
        monkeypatch.setattr("siftd.log.segments.read_line", lambda line: decoded.append(line) or decode(line))
        assert (await forget(memory, ids=["e6"]))["pending"] == []
        assert everywhere(tmp_path / "home") == []
    assert sum(b'"kind":"capture"' in line for line in decoded) <= 10, "those of its own segment"


async def test_what_follows_from_events_is_asked_for_at_once_however_many_they_are(tmp_path: Path) -> None:
    """A query for each was minutes of a long time."""
    asked: list[int] = []
    async with opened(tmp_path) as memory:
        for many in (3, 30):
            for number in range(many):
                await tell(memory, f"{WORD}{many}-{number}")
            await memory.ask("remember", text=f"The {WORD}{many} is kept.", derivedFrom=["e1"])
            statements: list[str] = []

            def matched(connection: sqlite3.Connection, traced: list[str] = statements) -> int:
                connection.set_trace_callback(traced.append)
                try:
                    return len(match(connection, [], ForgetQuery(since=0, until=NOW)).events)
                finally:
                    connection.set_trace_callback(None)

            assert await memory.services.store.read(matched) >= many
            asked.append(len(statements))
    assert asked[0] == asked[1]
