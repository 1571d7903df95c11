"""The graph as the daemon builds it: from events, facts and documents, at each tick, and as what they say goes away."""

from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

from opened_memory import DAY, NOW, Hands, Memory, opened, rebuilt

HOUR = 3_600_000
PROSE = "The auth service depends on Redis and the user service. Alice works on the platform team."


async def tick(memory: Memory) -> None:
    await memory.services.consolidator.tick()


async def triples(memory: Memory, *, ended: bool = False) -> set[tuple[str, str, str]]:
    rows = await memory.rows(
        "SELECT s.name, r.type, d.name FROM relations r JOIN entities s ON s.id = r.src JOIN entities d ON d.id = r.dst"
        f" WHERE r.valid_to IS {'NOT NULL' if ended else 'NULL'}"
    )
    return {(src, relation, dst) for src, relation, dst in rows}


async def names(memory: Memory) -> set[str]:
    return {name for (name,) in await memory.rows("SELECT name FROM entities")}


async def document(memory: Memory, text: str, path: str = "docs/a.md") -> str:
    """Read a document in, as `mem ingest` does; return its id."""
    fields = {"path": f"{memory.services.workspace.root}/{path}", "title": "a", "type": "markdown", "text": text}
    answer = await memory.ask("ingest_document", hash=hashlib.sha256(text.encode()).hexdigest(), **fields)
    return str(answer["id"])


async def edit(memory: Memory, number: int, path: str, content: str, **fields: Any) -> int:
    payload = {
        "tool_input": {"file_path": f"{memory.services.workspace.root}/{path}", "content": content},
        "tool_response": {"type": "update"},
    }
    return await memory.capture(number, tool="Write", payload=payload, **fields)


async def test_a_tick_reads_events_facts_and_documents(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.ask("remember", text="Bob works on the billing team.", type="fact", typed=True)
        cited = await document(memory, PROSE)
        await edit(memory, 1, "package.json", '{"name": "web", "dependencies": {"react": "1"}}')
        await tick(memory)
        found = await triples(memory)
        assert {
            ("auth service", "DEPENDS_ON", "Redis"),
            ("auth service", "DEPENDS_ON", "user service"),
            ("Alice", "WORKS_ON", "platform team"),
            ("Bob", "WORKS_ON", "billing team"),
            ("web", "DEPENDS_ON", "react"),
        } <= found
        evidence = await memory.rows(
            "SELECT v.item, v.line FROM relation_evidence v JOIN relations r ON r.id = v.relation_id"
            " JOIN entities e ON e.id = r.dst WHERE e.name = 'user service'"
        )
        assert evidence == [(cited, 1)]


async def test_a_tick_without_anything_new_writes_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await document(memory, PROSE)
        await edit(memory, 1, "a.py", "import numpy\n")
        await tick(memory)
        await tick(memory)
        before = await memory.services.store.write(lambda c: c.total_changes)
        await memory.services.consolidator.do("graph")
        assert await memory.services.store.write(lambda c: c.total_changes) == before
        assert await memory.rows("SELECT * FROM graph_queue") == []


async def test_a_changed_document_ends_what_it_says_no_longer_and_a_removed_one_leaves_nothing(tmp_path: Path) -> None:
    clock = Hands()
    async with opened(tmp_path, clock) as memory:
        await document(memory, PROSE)
        await tick(memory)
        clock.at += DAY
        cited = await document(memory, PROSE.replace("Redis and ", ""))
        await tick(memory)
        assert ("auth service", "DEPENDS_ON", "Redis") in await triples(memory, ended=True)
        assert ("auth service", "DEPENDS_ON", "user service") in await triples(memory)
        await memory.ask("remove_documents", ids=[cited])
        await tick(memory)
        assert await names(memory) == set()


async def test_what_a_document_said_once_is_history_also_after_a_rebuild(tmp_path: Path) -> None:
    clock = Hands()
    history = "SELECT s.name, r.type, d.name, r.valid_from, r.valid_to FROM relations r"
    history += " JOIN entities s ON s.id = r.src JOIN entities d ON d.id = r.dst"
    async with opened(tmp_path, clock) as memory:
        for text in (PROSE, PROSE.replace("Redis and ", ""), PROSE.replace("Redis", "Valkey")):
            await document(memory, text)
            await tick(memory)
            clock.at += HOUR
        before = sorted(await memory.rows(history), key=repr)
        assert ("auth service", "DEPENDS_ON", "Redis", NOW, NOW + HOUR) in before
    await rebuilt(tmp_path)
    async with opened(tmp_path, clock) as memory:
        assert await memory.rows("SELECT count(*) FROM graph_unread") == [(2,)]
        await tick(memory)
        assert sorted(await memory.rows(history), key=repr) == before
        assert await memory.rows("SELECT count(*) FROM graph_unread") == [(0,)]


async def test_a_fact_that_was_replaced_was_true_until_then(tmp_path: Path) -> None:
    clock = Hands()
    async with opened(tmp_path, clock) as memory:
        text = "The auth service depends on Redis."
        old = await memory.ask("remember", text=text, type="fact", typed=True)
        await tick(memory)
        assert await triples(memory) == {("auth service", "DEPENDS_ON", "Redis")}
        clock.at += 1000
        new = "The auth service depends on Valkey."
        newer = await memory.ask("remember", text=new, type="fact", typed=True)
        await memory.ask("link", **{"from": newer["id"], "to": old["id"], "relation": "supersedes"})
        await tick(memory)
        assert ("auth service", "DEPENDS_ON", "Redis") in await triples(memory, ended=True)
        assert await triples(memory) == {("auth service", "DEPENDS_ON", "Valkey")}


async def test_a_manifest_that_was_changed_ends_what_it_lists_no_longer(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await edit(memory, 1, "package.json", '{"name": "web", "dependencies": {"react": "1", "left-pad": "1"}}')
        await edit(memory, 2, "package.json", '{"name": "web", "dependencies": {"react": "1"}}')
        await tick(memory)
        assert ("web", "DEPENDS_ON", "left-pad") in await triples(memory, ended=True)
        assert ("web", "DEPENDS_ON", "react") in await triples(memory)


async def test_a_manifest_that_does_not_parse_is_passed_over_and_everything_else_is_read(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await edit(memory, 1, "package.json", '{"name": ')
        await edit(memory, 2, "a.py", "import numpy\n")
        await document(memory, "[[", "Cargo.toml")
        await tick(memory)
        assert {"package.json", "a.py", "numpy", "Cargo.toml"} <= await names(memory)


async def test_forgetting_takes_the_names_along_also_out_of_what_was_merged(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await edit(memory, 1, "a.py", "import okapi_secrets\n", sessionId="first")
        await edit(memory, 2, "b.py", "import numpy\n", sessionId="second")
        await tick(memory)
        assert "okapi_secrets" in await names(memory)
        await memory.ask("forget", session="first", dryRun=False)
        assert not {"okapi_secrets", "a.py"} & await names(memory)
        assert "numpy" in await names(memory)
        raw = Path(memory.services.paths.database).read_bytes()
        assert b"okapi_secrets" not in raw


async def test_forgetting_a_document_leaves_none_of_its_names_in_any_file(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        cited = await document(memory, "The auth service depends on OkapiVault.\n")
        await document(memory, "The auth service depends on OkapiVault2.\n")
        await tick(memory)
        assert "OkapiVault" in await names(memory)
        await memory.ask("forget", ids=[cited], dryRun=False)
        assert not [each for each in await names(memory) if "Okapi" in each]
        folder = Path(memory.services.paths.folder)
        assert not [each for each in folder.rglob("*") if each.is_file() and b"OkapiVault" in each.read_bytes()]


async def test_a_rebuild_reads_everything_again_and_keeps_a_persons_merges(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await edit(memory, 1, "a.py", "import numpy\n")
        await memory.ask("remember", text="The auth service depends on Redis.", type="fact", typed=True)
        await memory.ask("remember", text="The login service uses Kafka.", type="fact", typed=True)
        await tick(memory)
        marks = dict(await memory.rows("SELECT name, mark FROM entities"))
        payload = {"from": marks["login service"], "into": marks["auth service"]}
        await memory.services.intents.keep("entity_merge", payload)
        before = await triples(memory)
        assert ("auth service", "USES", "Kafka") in before
        assert b"login service" not in memory.log_bytes().split(b"entity_merge")[-1]
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        await tick(memory)
        assert await triples(memory) == before


async def test_a_scrub_takes_out_names_that_are_secrets_by_now(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await document(memory, "The auth service depends on Okapi-Number-7731.\n")
        await document(memory, "The auth service depends on Redis.\n", "b.md")
        await edit(memory, 1, "a.py", "import okapi_number_7731\n")
        await tick(memory)
        assert {"Okapi-Number-7731", "okapi_number_7731"} <= await names(memory)
        rule = {"name": "okapi", "pattern": "(?i)okapi.number.[0-9]{4}", "example": "okapi-number-1234"}
        (tmp_path / "home" / "default" / "config.json").write_text(json.dumps({"redact.rules": [rule]}))
        await memory.ask("scrub", dryRun=False)
        assert not [each for each in await names(memory) if "7731" in each]
        await tick(memory)
        assert not [each for each in await names(memory) if "7731" in each]
        assert ("auth service", "DEPENDS_ON", "Redis") in await triples(memory)


async def test_a_name_much_like_a_known_one_is_the_same_where_the_text_bears_it_out(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await memory.ask(
            "remember", text="The invoice rendering backend service depends on Stripe.", type="fact", typed=True
        )
        await tick(memory)
        await tick(memory)
        assert await memory.rows("SELECT count(*) FROM embeddings WHERE owner_kind = 'entity'") != [(0,)]
        await memory.ask(
            "remember", text="The invoices rendering backend service depends on Kafka.", type="fact", typed=True
        )
        await memory.ask(
            "remember", text="The invoice2 rendering backend service depends on NATS.", type="fact", typed=True
        )
        await tick(memory)
        found = await triples(memory)
        assert ("invoice rendering backend service", "DEPENDS_ON", "Kafka") in found
        assert ("invoice rendering backend service", "DEPENDS_ON", "NATS") not in found


async def merged(memory: Memory) -> None:
    await memory.ask("remember", text="The auth service depends on Redis.", type="fact", typed=True)
    await memory.ask("remember", text="The login service uses Kafka.", type="fact", typed=True)
    await tick(memory)
    ids = dict(await memory.rows("SELECT name, 'x' || id FROM entities"))
    await memory.ask("merge_entities", id=ids["login service"], into=ids["auth service"])


async def test_a_person_merges_two_and_parts_them_again(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await merged(memory)
        ids = dict(await memory.rows("SELECT name, 'x' || id FROM entities"))
        assert ("auth service", "USES", "Kafka") in await triples(memory)
        await memory.ask("unmerge_entity", id=ids["login service"])
        assert ("login service", "USES", "Kafka") in await triples(memory)
        parted = await triples(memory)
    await rebuilt(tmp_path)
    async with opened(tmp_path) as memory:
        await tick(memory)
        assert await triples(memory) == parted


async def test_merges_are_exported_by_name_and_hold_where_they_are_imported(tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    async with opened(tmp_path / "a") as memory:
        await merged(memory)
        before = await triples(memory)
        assert (await memory.ask("export", path=str(file)))["counts"]["merges"] == 1
    async with opened(tmp_path / "b") as memory:
        answer = await memory.ask("import", path=str(file))
        assert (answer["added"]["merges"], answer["errors"]) == (1, 0)
        await tick(memory)
        assert await triples(memory) == before
        assert (await memory.ask("import", path=str(file)))["added"]["merges"] == 0


async def test_a_fact_that_waits_is_read_once_it_is_accepted_and_an_archived_one_holds_as_before(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as memory:
        await memory.ask("remember", text="The auth service depends on Redis.", type="fact", typed=True)
        await memory.by_hand("UPDATE facts SET waits = 1")
        await tick(memory)
        assert await triples(memory) == set()
        await memory.by_hand("UPDATE facts SET waits = 0")
        await tick(memory)
        assert await triples(memory) == {("auth service", "DEPENDS_ON", "Redis")}
        await memory.by_hand("UPDATE facts SET status = 'archived'")
        await tick(memory)
        assert await triples(memory) == {("auth service", "DEPENDS_ON", "Redis")}
        await memory.by_hand("UPDATE facts SET status = 'contradicted', valid_to = ?", NOW + 5)
        await tick(memory)
        assert await triples(memory, ended=True) == {("auth service", "DEPENDS_ON", "Redis")}


async def test_captures_go_on_while_a_large_document_is_read(tmp_path: Path) -> None:
    async with opened(tmp_path) as memory:
        await document(
            memory, "\n".join(f"The part{n} service depends on the user{n} service.\n" for n in range(1_500))
        )
        reading = asyncio.create_task(memory.services.consolidator.do("graph"))
        for number in range(20):
            await memory.capture(number)
        assert not reading.done(), "they wait for a piece of it at most, never for the whole"
        await reading
        assert len(await triples(memory)) == 1_500
