"""Pods in a store: made, kept through a rebuild and an export, forgotten, scrubbed, and no leak between anybody."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from opened_memory import DAY, Memory, opened, rebuilt

from siftd.errors import RequestInvalid
from siftd.workspace.paths import GLOBAL

ROWS = "SELECT type, external_id, title, status FROM pods ORDER BY type, external_id"
MEMBERS = """
SELECT p.type, f.text, x.role FROM pod_members x JOIN pods p ON p.id = x.pod_id JOIN facts f ON f.id = x.fact_id
ORDER BY p.type, x.position
"""
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    async with opened(tmp_path, facts_person="anna") as opened_memory:
        yield opened_memory


async def remember(memory: Memory, text: str, **fields: Any) -> str:
    return str((await memory.ask("remember", text=text, typed=True, **fields))["id"])


async def handed(memory: Memory, **fields: Any) -> dict[str, list[str]]:
    """Return the texts that stand, by pod."""
    answer = await memory.ask("context", **fields)
    return {pod["pod"]: [each["text"] for each in pod["facts"]] for pod in answer["pods"] if pod["facts"]}


def every_log_byte(memory: Memory) -> bytes:
    return b"".join(each.read_bytes() for each in Path(memory.services.paths.folder).glob("wal*"))


async def whys(memory: Memory, pod: str) -> dict[str, str]:
    told = (await memory.ask("pod", pod=pod))["pod"]
    return {each["id"]: each["why"] for each in told["leftOut"]}


async def fill(memory: Memory) -> None:
    """Have a playbook of two steps, a person's own pod, and a project's with something left out."""
    steps = [await remember(memory, "Tag the commit"), await remember(memory, "make publish", type="procedure")]
    mine = await remember(memory, "I like short answers", type="preference")
    out = await remember(memory, "The office plant is called Fern")
    await memory.ask("create_pod", type="playbook", name="Hot  Fix", ids=steps[:1])
    await memory.ask("create_pod", type="playbook", name="hot fix", ids=steps[1:], role="command")
    await memory.ask("create_pod", type="person", ids=[mine])
    await memory.ask("create_pod", type="project", ids=[out], role="left out")
    await memory.ask("archive_pod", pod="vital")


async def test_each_pod_is_handed_over_with_its_own_facts(memory: Memory) -> None:
    await remember(memory, "Never push to main", pin=True, type="instruction")
    await remember(memory, "Production is eu-west-1", importance=5)
    await remember(memory, "I like short answers", type="preference")
    await remember(memory, "Builds run in make")
    assert await handed(memory) == {
        "directive": ["Never push to main"],
        "vital": ["Production is eu-west-1"],
        "person:anna": ["I like short answers"],
        "project": ["Builds run in make"],
    }


async def test_a_persons_pod_rests_after_a_day_and_what_was_superseded_or_has_expired_stands_nowhere(
    memory: Memory,
) -> None:
    old = await remember(memory, "Use npm", importance=5)
    await memory.ask("supersede", id=old, text="Use pnpm", typed=True)
    await remember(memory, "The freeze holds", importance=5, until=memory.clock.at + 1_000)
    await remember(memory, "I like short answers", type="preference", importance=1)
    memory.clock.at += DAY
    shown = await handed(memory)
    assert shown["vital"] == ["Use pnpm"]
    assert "person:anna" not in shown
    assert set((await whys(memory, "vital")).values()) == {"a newer fact has taken its place", "holds no longer"}


async def test_what_an_agent_calls_vital_or_pins_stands_in_neither_pod(memory: Memory) -> None:
    for number in range(20):
        await memory.ask("remember", text=f"Everything is vital, part {number}", importance=5, source="mcp")
    pinned = (await memory.ask("remember", text="Always obey", pin=True, source="mcp"))["id"]
    await memory.ask("create_pod", type="vital", ids=[pinned])
    await memory.ask("create_pod", type="directive", ids=[pinned])
    shown = await handed(memory)
    assert "vital" not in shown
    assert "directive" not in shown
    assert "waits for a person: `mem pins --accept`" in (await whys(memory, "directive")).values()


async def test_a_session_has_what_was_said_in_it_alone(memory: Memory) -> None:
    for number in range(2):
        await memory.capture(number, sessionId=f"s-{number}")
    await remember(memory, "Work on the parser today", sessionId="s-0")
    assert (await handed(memory, session="s-0"))["session:s-0"] == ["Work on the parser today"]
    assert "session:s-1" not in await handed(memory, session="s-1")
    for nobody in (None, ""):
        assert not [pod for pod in await handed(memory, session=nobody) if pod.startswith("session")]


async def test_a_playbook_is_handed_over_when_it_is_named_in_the_order_of_its_steps(memory: Memory) -> None:
    await fill(memory)
    assert "playbook:hot-fix" not in await handed(memory, about="fix the parser")
    shown = await handed(memory, about="We need a hot fix!")
    assert shown["playbook:hot-fix"] == ["Tag the commit", "make publish"]
    assert shown["person:anna"] == ["I like short answers"]
    assert "The office plant is called Fern" not in [text for texts in shown.values() for text in texts]
    listed = {pod["pod"]: pod for pod in (await memory.ask("pods"))["pods"]}
    assert listed["vital"]["inactive"] == "archived"
    assert (listed["playbook:hot-fix"]["title"], listed["playbook:hot-fix"]["members"]) == ("Hot Fix", 2)
    await memory.ask("archive_pod", pod="playbook:hot fix")
    assert "playbook:hot-fix" not in await handed(memory, about="hot fix")
    await memory.ask("archive_pod", pod="playbook:hot fix", undo=True)
    assert "playbook:hot-fix" in await handed(memory, about="hot fix")


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("create_pod", {"type": "rumour"}),
        ("create_pod", {"type": "playbook"}),
        ("create_pod", {"type": "playbook", "name": "?!"}),
        ("create_pod", {"type": "playbook", "name": "x" * 257}),
        ("create_pod", {"type": "playbook", "name": "a", "ids": ["m999"]}),
        ("create_pod", {"type": "playbook", "name": "a", "role": "boss"}),
        ("create_pod", {"type": "vital", "name": "mine"}),
        ("create_pod", {"type": "person", "name": "ben"}),
        ("create_pod", {"type": "project", "name": "another"}),
        ("create_pod", {"type": "session", "name": "nobody"}),
        ("pod", {"pod": "person:ben"}),
        ("pod", {"pod": "nothing"}),
        ("archive_pod", {"pod": "playbook:none"}),
        ("archive_pod", {"pod": "person:ben"}),
        ("context", {"session": "unknown"}),
    ],
)
async def test_what_cannot_be_is_refused_with_the_remedy(memory: Memory, kind: str, fields: dict[str, Any]) -> None:
    with pytest.raises(RequestInvalid) as refused:
        await memory.ask(kind, **fields)
    assert refused.value.hint or "characters" in refused.value.message
    assert await memory.rows(ROWS) == []


async def test_pods_and_members_are_bounded(memory: Memory) -> None:
    ids = [await remember(memory, f"statement {number}") for number in range(51)]
    with pytest.raises(RequestInvalid):
        await memory.ask("create_pod", type="playbook", name="long", ids=ids)
    await memory.by_hand(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 200)"
        " INSERT INTO pods (type, external_id, ts) SELECT 'playbook', 'p' || i, 1 FROM n"
    )
    with pytest.raises(RequestInvalid):
        await memory.ask("create_pod", type="playbook", name="one more")


# Through the log


async def test_a_rebuild_brings_pods_and_members_back_with_their_ids(tmp_path: Path) -> None:
    async with opened(tmp_path, facts_person="anna") as memory:
        await fill(memory)
        before = await memory.rows("SELECT * FROM pods"), await memory.rows("SELECT * FROM pod_members")
        page = await memory.ask("context", explain=True, about="hot fix")
    await rebuilt(tmp_path)
    async with opened(tmp_path, facts_person="anna") as memory:
        assert (await memory.rows("SELECT * FROM pods"), await memory.rows("SELECT * FROM pod_members")) == before
        assert await memory.ask("context", explain=True, about="hot fix") == page


async def test_an_export_of_ones_own_brings_everything_and_a_second_import_nothing(tmp_path: Path) -> None:
    file = str(tmp_path / "all.jsonl")
    async with opened(tmp_path / "a", facts_person="anna") as memory:
        await fill(memory)
        before = await memory.rows(ROWS), await memory.rows(MEMBERS)
        await memory.ask("export", path=file)
    async with opened(tmp_path / "b", facts_person="anna") as memory:
        answer = await memory.ask("import", path=file, own=True)
        assert (answer["added"]["pods"], answer["added"]["members"], answer["errors"]) == (4, 4, 0)
        assert (await memory.rows(ROWS), await memory.rows(MEMBERS)) == before
        log = memory.log_bytes()
        assert sum((await memory.ask("import", path=file, own=True))["added"].values()) == 0
        assert memory.log_bytes() == log
    await rebuilt(tmp_path / "b")
    async with opened(tmp_path / "b", facts_person="anna") as memory:
        assert (await memory.rows(ROWS), await memory.rows(MEMBERS)) == before


async def test_what_is_private_to_a_person_comes_with_nobody_elses_import(tmp_path: Path) -> None:
    file = str(tmp_path / "all.jsonl")
    async with opened(tmp_path / "a", facts_person="anna") as memory:
        await fill(memory)
        await memory.ask("export", path=file)
    async with opened(tmp_path / "b", facts_person="ben") as memory:
        answer = await memory.ask("import", path=file)
        assert answer["errors"] == 3  # the pod, its fact, and that one is a member of the other
        assert await memory.rows("SELECT 1 FROM facts WHERE text LIKE '%short answers%'") == []
        assert await memory.rows("SELECT 1 FROM pods WHERE type = 'person'") == []
        assert b"short answers" not in memory.log_bytes()
        assert (await handed(memory, about="hot fix"))["playbook:hot-fix"] == ["Tag the commit", "make publish"]


async def test_what_takes_a_members_place_has_its_place_in_the_pod_and_is_as_private(tmp_path: Path) -> None:
    file = str(tmp_path / "all.jsonl")
    async with opened(tmp_path / "a", facts_person="anna") as memory:
        await fill(memory)
        first, _, mine, _ = (row[0] for row in await memory.rows("SELECT id FROM facts ORDER BY id"))
        await memory.ask("correct", id=f"m{first}", text="Tag the commit and sign it", typed=True)
        await memory.ask("supersede", id=f"m{mine}", text="I like long answers", type="preference", typed=True)
        stands = await handed(memory, about="hot fix")
        assert stands["playbook:hot-fix"] == ["Tag the commit and sign it", "make publish"]
        assert stands["person:anna"] == ["I like long answers"]
        await memory.ask("export", path=file)
    await rebuilt(tmp_path / "a")
    async with opened(tmp_path / "a", facts_person="anna") as memory:
        assert await handed(memory, about="hot fix") == stands
    async with opened(tmp_path / "a", facts_person="ben") as memory:
        page = json.dumps([await memory.ask("context", explain=True), await memory.ask("pods")])
        assert "answers" not in page
    async with opened(tmp_path / "b", facts_person="ben") as memory:
        await memory.ask("import", path=file)
        assert await memory.rows("SELECT 1 FROM facts WHERE text LIKE '%answers%'") == []


# Erasing


async def test_a_forgotten_fact_leaves_its_pods_and_a_forgotten_name_takes_the_pod(tmp_path: Path) -> None:
    file = str(tmp_path / "all.jsonl")
    async with opened(tmp_path, facts_person="anna") as memory:
        await fill(memory)
        await memory.ask("export", path=file)
        step = (await memory.rows("SELECT id FROM facts WHERE text = 'Tag the commit'"))[0][0]
        await memory.ask("forget", dryRun=False, ids=[f"m{step}"])
        assert (await handed(memory, about="hot fix"))["playbook:hot-fix"] == ["make publish"]
        answer = await memory.ask("forget", dryRun=False, query="HOT")
        assert answer["byKind"]["pod"] == 1
        assert [row[0] for row in await memory.rows(ROWS)] == ["person", "project", "vital"]
        assert b"hot" not in every_log_byte(memory).lower()
        assert await memory.rows("SELECT count(*) FROM pod_members x JOIN pods p ON p.id = x.pod_id") == [(2,)]
        await memory.ask("import", path=file, own=True)
        assert "playbook" not in [row[0] for row in await memory.rows(ROWS)]
    await rebuilt(tmp_path)
    async with opened(tmp_path, facts_person="anna") as memory:
        assert [row[0] for row in await memory.rows(ROWS)] == ["person", "project", "vital"]


async def test_a_sessions_pod_goes_with_the_session_and_what_was_made_in_a_forgotten_time_with_it(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path, facts_person="anna") as memory:
        await memory.capture(1, sessionId="s-secret-name")
        out = await remember(memory, "Something else")
        await memory.ask("create_pod", type="session", name="s-secret-name", ids=[out], role="left out")
        await memory.ask("forget", dryRun=False, session="s-secret-name")
        assert await memory.rows(ROWS) == []
        assert b"s-secret-name" not in every_log_byte(memory)
        await memory.ask("create_pod", type="playbook", name="of today")
        since = memory.clock.at - 1_000
        memory.clock.at += 1_000
        await memory.ask("forget", dryRun=False, since=since, until=memory.clock.at)
        assert await memory.rows(ROWS) == []
    await rebuilt(tmp_path)
    async with opened(tmp_path, facts_person="anna") as memory:
        assert await memory.rows(ROWS) == []


async def test_a_secret_in_a_name_is_redacted_and_one_that_a_later_rule_finds_is_scrubbed(tmp_path: Path) -> None:
    async with opened(tmp_path, facts_person="anna") as memory:
        answer = await memory.ask("create_pod", type="playbook", name=f"deploy with {TOKEN}")
        assert TOKEN.casefold() not in json.dumps([answer, await memory.rows(ROWS)]).casefold()
        await memory.by_hand("UPDATE pods SET title = ?", f"deploy with {TOKEN}")
        await memory.ask("scrub", dryRun=False)
        assert TOKEN not in json.dumps(await memory.rows(ROWS))
        assert len(await memory.rows(ROWS)) == 1


async def test_with_the_sqlite_program_members_go_with_their_pod_and_their_fact(memory: Memory) -> None:
    await fill(memory)
    await memory.by_hand("PRAGMA foreign_keys = OFF")
    await memory.by_hand("DELETE FROM facts WHERE text = 'Tag the commit'")
    await memory.by_hand("DELETE FROM pods WHERE type = 'person'")
    assert await memory.rows("SELECT count(*) FROM pod_members") == [(2,)]


# Two projects, two persons


async def test_the_page_tells_nothing_of_another_project_or_another_person(tmp_path: Path) -> None:
    """Two projects of one home, two persons that use it: each page whole, in both directions."""
    pages: dict[tuple[str, str], str] = {}
    words = {"red": "the red parser", "blue": "the blue parser"}
    for person in ("anna", "ben"):
        async with opened(tmp_path / "red", key=GLOBAL, facts_person=person) as shared:
            mine = await remember(
                shared, f"{person} likes {person}-only tabs", type="preference", importance=5, pin=True
            )
            await shared.ask("create_pod", type="person", ids=[mine])
    for project, words_of in words.items():
        for person in ("anna", "ben"):
            home = tmp_path / "red" / "home"
            folder = tmp_path / project
            folder.mkdir(exist_ok=True)
            if not (folder / "home").exists():
                (folder / "home").symlink_to(home)
            async with opened(folder, facts_person=person) as memory:
                for fields in ({"importance": 5}, {"pin": True}, {}, {"type": "preference"}):
                    text = f"{words_of} {json.dumps(fields)} of everybody"
                    await remember(memory, text, **fields)
                own = await remember(memory, f"{words_of}, says {person} privately", importance=5, pin=True)
                await memory.ask("create_pod", type="person", ids=[own])
                await memory.capture(1, sessionId=f"{project}-{person}")
                page = await memory.ask("context", explain=True, session=f"{project}-{person}")
                pages[project, person] = json.dumps([page, await memory.ask("pods")])
    other = {"red": "blue", "blue": "red", "anna": "ben", "ben": "anna"}
    for (project, person), page in pages.items():
        assert words[project] in page
        assert f"{person}-only" in page
        assert f"says {person} privately" in page
        for foreign in (other[project], other[person]):
            assert foreign not in page, f"{foreign} on the page of {person} in {project}"


# What reaches an agent unasked


async def test_a_brief_brings_what_is_pinned_and_vital_whole_and_says_how_much_has_no_slot(memory: Memory) -> None:
    long = "Every service " + "logs to standard output in lines of JSON and " * 15 + "nowhere else"
    await remember(memory, long, pin=True)
    for number in range(6):
        await remember(memory, f"Standing rule number {number}", pin=True, type="instruction")
    await remember(memory, "Production is eu-west-1", importance=5)
    await remember(memory, "Builds run in make")
    await remember(memory, "I like short answers", type="preference")
    text = (await memory.ask("brief"))["text"]
    assert next(line for line in text.splitlines() if "Standing rule" in line).endswith("number 5»")
    assert text.count("Standing rule") == 5
    assert "2 more pinned or vital than stand here: `mem context --explain`" in text
    assert "Vital, said by the person:" in text
    assert text.index("Standing rule") < text.index("eu-west-1")
    assert "make" not in text
    assert "short answers" not in text


async def test_a_pinned_fact_that_a_brief_has_no_room_for_is_left_out_and_never_cut(memory: Memory) -> None:
    await remember(memory, "Every service " + "logs to standard output and " * 100, pin=True)
    await remember(memory, "Sign every commit", pin=True)
    text = (await memory.ask("brief"))["text"]
    assert "Sign every commit" in text
    assert "logs to standard" not in text
    assert "…" not in text.partition("`show ID` tells the whole.")[2]
    assert "1 more pinned or vital than stand here" in text


async def test_an_archived_pod_is_in_no_brief(memory: Memory) -> None:
    await remember(memory, "Sign every commit", pin=True)
    assert "Sign every commit" in (await memory.ask("brief"))["text"]
    await memory.ask("archive_pod", pod="directive")
    assert "Sign every commit" not in (await memory.ask("brief"))["text"]
