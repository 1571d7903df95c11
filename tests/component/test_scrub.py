"""Scrubbing: today's rules over everything stored under fewer of them, durably, and nothing else touched."""

from __future__ import annotations

import gzip
import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from opened_memory import Hands, Memory, opened, rebuilt

from siftd.errors import RequestInvalid
from siftd.log import sealing
from siftd.log.recovery import iter_records
from siftd.store import scrubbing, snapshots
from siftd.workspace.home import write_private

NUMBER = "kd-20417733"
"""What was no secret when it was stored. In lower case: words are indexed so."""
RULE = {"name": "customer-number", "pattern": "(?i)kd-[0-9]{8}", "example": "KD-20417733"}
PLACEHOLDER = "[REDACTED:customer-number:"
EVENTS = "SELECT id, ts, session_id, tool, input_hash, payload_json, uid, tokens_est FROM events ORDER BY id"


def everywhere(home: Path, word: str = NUMBER) -> list[str]:
    """Return the files of the workspace that hold the word, compressed ones opened."""
    found = []
    for each in sorted((home / "default" / "workspaces").rglob("*")):
        data = each.read_bytes() if each.is_file() else b""
        data += gzip.decompress(data) if each.suffix == ".gz" else b""
        if word.encode() in data.lower():
            found.append(each.name)
    return found


def configure(folder: Path, **values: Any) -> None:
    config = folder / "home" / "default" / "config.json"
    config.write_text(json.dumps({name.replace("_", "."): value for name, value in values.items()}))


def call(text: str) -> dict[str, Any]:
    return {"tool_input": {"command": f"bill {text}", text: [[text]]}, "tool_response": {"stdout": f"for {text}:\nok"}}


async def fill(memory: Memory) -> None:
    """Store the number by every way, over two segments, drained, with a snapshot and files set aside."""
    paths = memory.services.paths
    await memory.capture(1)
    asked = {"prompt": f"Bill the customer {NUMBER} again"}
    await memory.capture(2, tool="UserPromptSubmit", payload=asked, uid="asked")
    await memory.capture(3, payload=call(NUMBER), uid="called")
    await memory.services.committer.seal_log()
    await memory.capture(4, sessionId=f"chat-{NUMBER}", cwd=f"/src/{NUMBER}", source=NUMBER)
    await memory.ask("remember", text=f"The customer {NUMBER} pays late.", tags=[NUMBER])
    await memory.services.consolidator.indexer.run_all()
    await memory.ask("drain")
    await memory.by_hand("INSERT INTO summary_cache (cache_key, text, ts) VALUES ('k', ?, 1)", f"billed {NUMBER}")
    snapshots.make_snapshot(paths.database, paths.snapshots)
    sealing.compress(paths.wal)
    write_private(Path(f"{paths.database}.damaged-1"), NUMBER.encode())
    assert len(everywhere(Path(paths.home.root))) >= 5


async def test_a_dry_run_tells_what_would_change_and_changes_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await fill(memory)
        configure(tmp_path, redact_rules=[RULE])
        before, log = await memory.rows(EVENTS), memory.log_bytes()
        answer = await memory.ask("scrub", dryRun=True)
        assert answer["changed"] == {"events": 3, "facts": 1, "sessions": 1, "records": 4}
        assert (await memory.rows(EVENTS), memory.log_bytes()) == (before, log)
        done = await memory.ask("scrub")
        assert (done["changed"], done["byRule"]) == (answer["changed"], answer["byRule"])


async def test_no_byte_holds_what_todays_rules_replace_and_all_else_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with opened(tmp_path) as memory:
        await fill(memory)
        before = await memory.rows(EVENTS)
        configure(tmp_path, redact_rules=[RULE])
        answer = await memory.ask("scrub", dryRun=False)
        assert answer["pending"] == []
        assert (answer["changed"]["events"], answer["changed"]["records"]) == (3, 4)
        assert everywhere(home) == []
        after = await memory.rows(EVENTS)
        assert after[0] == before[0]
        for old, new in zip(before, after, strict=True):
            assert (new[0], new[1], new[6]) == (old[0], old[1], old[6]), "ids, times and identities stay"
            assert new[4] == hashlib.sha256(new[5].encode()).hexdigest()
        assert after[2][5].count(PLACEHOLDER) == 4
        assert await memory.rows("SELECT text FROM facts WHERE text LIKE '%[REDACTED:customer-number:%'") != []
        assert (await memory.rows("SELECT count(*) FROM summary_cache WHERE cache_key = 'k'")) == [(0,)]
        await memory.ask("drain")
        assert (await memory.ask("info"))["counts"]["raw"] == 0
        assert (await memory.ask("search", query="pays late"))["hits"] != []
        assert everywhere(home) == []
        again = await memory.ask("scrub", dryRun=True)
        assert not any(again["changed"].values())
        await memory.capture(9, payload=call(NUMBER.replace("7", "8")))
        assert everywhere(home, NUMBER.replace("7", "8")) == [], "what comes from now on is redacted alike"
    kept = [record.seq for record in iter_records(memory.services.paths.wal)]
    assert kept == sorted(set(kept))


async def test_a_rebuild_from_the_log_or_from_a_snapshot_brings_nothing_back(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await fill(memory)
        configure(tmp_path, redact_rules=[RULE])
        await memory.ask("scrub", dryRun=False)
        events = await memory.rows(EVENTS)
        paths = memory.services.paths
    for without_snapshots in (False, True):
        if without_snapshots:
            for each in snapshots.list_snapshots(paths.snapshots):
                each.path.unlink()
        await rebuilt(tmp_path)
        async with opened(tmp_path, redact_rules=[RULE]) as memory:
            assert await memory.rows(EVENTS) == events
            await memory.services.maintenance.run()
            assert (await memory.ask("info"))["scrub"]["pending"] == []
            assert everywhere(tmp_path / "home") == []


async def test_a_daemon_that_dies_before_it_scrubs_does_it_at_its_next_start(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await fill(memory)
        configure(tmp_path, redact_rules=[RULE])

        async def not_yet() -> scrubbing.Scrubbed:
            return scrubbing.Scrubbed()

        memory.services.scrubber.finish = not_yet  # type: ignore[method-assign]
        await memory.ask("scrub", dryRun=False)
        assert everywhere(tmp_path / "home") != []
    async with opened(tmp_path, redact_rules=[RULE]) as memory:
        await memory.services.maintenance.run()
        assert everywhere(tmp_path / "home") == []


async def test_a_reader_that_holds_the_old_pages_is_named_and_waited_for(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await fill(memory)
        configure(tmp_path, redact_rules=[RULE])
        with closing(sqlite3.connect(memory.services.paths.database, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM events").fetchall()
            answer = await memory.ask("scrub", dryRun=False)
            assert answer["pending"] != []
            assert (await memory.ask("info"))["scrub"]["pending"] == answer["pending"]
        await memory.services.maintenance.run()
        assert (await memory.ask("info"))["scrub"]["pending"] == []
        assert everywhere(tmp_path / "home") == []


async def test_a_configuration_that_does_not_parse_is_no_reason_to_scrub_by_an_old_one(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        configure(tmp_path, redact_rules=[RULE | {"example": "none"}])
        with pytest.raises(RequestInvalid) as refused:
            await memory.ask("scrub", dryRun=False)
        assert "example does not match" in refused.value.hint


async def test_what_was_forgotten_stays_forgotten_even_by_a_rule_that_takes_hashes_for_secrets(tmp_path: Path) -> None:
    hexes = {"name": "hash", "pattern": "[0-9a-f]{32}", "example": "0123456789abcdef" * 2}
    async with opened(tmp_path, Hands()) as memory:
        await memory.capture(1, uid="gone")
        await memory.capture(2, uid="kept")
        configure(tmp_path, redact_rules=[hexes])
        await memory.ask("scrub", dryRun=False)
        await memory.ask("forget", ids=["e1"], dryRun=False)
        await memory.ask("scrub", dryRun=False)
        uids = await memory.rows("SELECT uid FROM events")
    await rebuilt(tmp_path)
    async with opened(tmp_path, redact_rules=[hexes]) as memory:
        assert await memory.rows("SELECT uid FROM events") == uids
        assert await memory.rows("SELECT count(*) FROM events") == [(1,)]


async def test_replacements_are_counted_by_rule_and_outlive_the_daemon(tmp_path: Path) -> None:
    async with opened(tmp_path, redact_rules=[RULE]) as memory:
        await memory.capture(1, payload=call(NUMBER))
        await memory.capture(2, payload={"prompt": "write to ann.lee@example.org"}, tool="UserPromptSubmit")
        await memory.ask("remember", text=f"The customer {NUMBER} pays late.")
        assert (await memory.ask("info"))["redactions"] == {"customer-number": 5, "email": 1}
    async with opened(tmp_path) as memory:
        assert (await memory.ask("info"))["redactions"] == {"customer-number": 5, "email": 1}


async def test_every_column_of_text_is_scrubbed_unless_it_is_known_to_hold_nobodys_words(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.by_hand("CREATE TABLE added_later (id INTEGER PRIMARY KEY, said TEXT)")
        await memory.by_hand("INSERT INTO added_later VALUES (1, ?)", f"of {NUMBER}")
        await memory.by_hand(
            "INSERT INTO conversations (session_id, title, parent_id, ts) VALUES ('c1', ?, ?, 1)",
            f"Bill {NUMBER}",
            f"chat-{NUMBER}",
        )
        found = await memory.services.store.read(scrubbing.text_columns)
        assert found["summaries"] == ["text"]
        assert set(found["facts"]) == {"text", "tags", "project", "session_id", "source", "topic", "quote", "client"}
        assert not {"events", "meta", "tombstones", "migrations"} & found.keys()
        configure(tmp_path, redact_rules=[RULE])
        await memory.ask("scrub", dryRun=False)
        assert everywhere(tmp_path / "home") == []
        assert PLACEHOLDER in (await memory.rows("SELECT said FROM added_later"))[0][0]


async def test_ids_paths_and_the_daemons_own_log_are_scrubbed_and_who_opted_out_stays_out(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        paths = memory.services.paths
        await memory.capture(1)
        for column in ("prompt_id", "agent_id", "spawned_agent_id"):
            await memory.by_hand(f"UPDATE events SET {column} = ?", f"{column}-{NUMBER}")
        await memory.by_hand("UPDATE meta SET value = ? WHERE key = 'root'", f"/src/{NUMBER}")
        await memory.by_hand("INSERT INTO backfill_progress VALUES (?, '{}')", f"/transcripts/{NUMBER}.jsonl")
        await memory.by_hand("INSERT INTO opt_outs VALUES (?, 1, NULL)", f"off-{NUMBER}")
        line = f'{{"event":"told","session":"chat-{NUMBER}"}}\n{{"event":"told","session":"chat-2"}}\n'
        daemon_log = Path(paths.daemon_log)
        daemon_log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(daemon_log, line.encode())
        configure(tmp_path, redact_rules=[RULE])
        changed = (await memory.ask("scrub", dryRun=False))["changed"]
        assert (changed["events"], changed["meta"], changed["opt_outs"]) == (1, 1, 1)
        assert everywhere(tmp_path / "home") == []
        assert NUMBER not in daemon_log.read_text()
        assert '"session":"chat-2"' in daemon_log.read_text()
        with pytest.raises(AssertionError):  # no id: nothing was kept
            await memory.capture(2, sessionId=f"off-{NUMBER}")
        assert len(await memory.rows(EVENTS)) == 1
    async with opened(tmp_path, redact_rules=[RULE]) as memory:
        await memory.ask("drain")
        assert everywhere(tmp_path / "home") == [], "the next start brings nothing back"


async def test_a_record_that_says_more_than_its_row_is_scrubbed_though_the_row_is_clean(tmp_path: Path) -> None:
    """The log is read only where a row of the same payload has not been."""
    async with opened(tmp_path) as memory:
        first = await memory.capture(1, payload=call(NUMBER))
        await memory.capture(2, payload=call(NUMBER), cwd=f"/src/{NUMBER}")
        await memory.by_hand("UPDATE events SET payload_json = '{}' WHERE id = ?", first)
        await memory.by_hand("DELETE FROM events WHERE id > ?", first)
        configure(tmp_path, redact_rules=[RULE])
        for dry_run in (True, False):
            assert (await memory.ask("scrub", dryRun=dry_run))["changed"]["records"] == 2
        assert everywhere(tmp_path / "home") == []


async def test_a_record_of_a_clean_payload_is_scrubbed_of_what_stands_beside_it(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.capture(1, cwd=f"/src/{NUMBER}")
        configure(tmp_path, redact_rules=[RULE])
        changed = (await memory.ask("scrub", dryRun=False))["changed"]
        assert (changed.get("events", 0), changed["records"]) == (0, 1)
        assert everywhere(tmp_path / "home") == []


async def test_what_a_scrub_learns_from_an_event_it_hides_in_the_next(tmp_path: Path) -> None:
    """Both are read at once, and by itself the second looks clean."""
    value = "tulip-K9x7Qm42w"
    async with opened(tmp_path) as memory:
        named, said = [await memory.capture(number) for number in (1, 2)]
        told = {named: {"tool_input": {"password": value}}, said: {"tool_input": {"description": f"now {value} works"}}}
        for number, payload in told.items():
            await memory.by_hand("UPDATE events SET payload_json = ? WHERE id = ?", json.dumps(payload), number)
        assert (await memory.ask("scrub", dryRun=False))["changed"]["events"] == 2
        assert value not in str(await memory.rows(EVENTS))
