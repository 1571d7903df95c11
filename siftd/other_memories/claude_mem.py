"""claude-mem's store, `~/.claude-mem/claude-mem.db`, as of 13.25 (`plugin/sqlite/SessionStore.js` of its npm package).

An observation is a title, a narrative and facts; older ones have `text` alone. A session's summary tells what was
learnt and done. Prompts are left behind: `mem backfill` reads them from the client's own sessions, whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from siftd.facts.model import Category
from siftd.foreign_database import open_database, rows_of
from siftd.other_memories.model import Item, LeftBehind, Memory, OtherMemory, list_of_texts, moment

TABLES = ("observations", "session_summaries", "user_prompts")
_TYPES: dict[str, Category] = {"decision": "decision", "bugfix": "issue", "discovery": "fact"}
"""Of its types; `feature`, `refactor` and `change` tell what was done."""
_OBSERVATIONS = "SELECT id, type, project, * FROM observations ORDER BY created_at_epoch, id"
"""Columns came and went with its versions: those that every one has, and whatever else there is."""
_SUMMARIES = "SELECT id, project, * FROM session_summaries ORDER BY created_at_epoch, id"
_PROMPTS = "SELECT count(*) FROM user_prompts"
_SUMMARY_PARTS = {"request": "Asked", "learned": "Learnt", "completed": "Done", "next_steps": "Next"}


def _read(path: str) -> Iterator[Item]:
    with open_database(path, TABLES) as database:
        for row in rows_of(database, _OBSERVATIONS):
            text = _observation(row)
            if not text:
                yield LeftBehind(why="an observation that says nothing")
                continue
            yield Memory(
                key=f"observation:{row['id']}",
                text=text,
                category=_TYPES.get(row["type"], "episode"),
                ts=_when(row),
                tags=list_of_texts(row.get("concepts", "")),
                project=row["project"] or None,
            )
        for row in rows_of(database, _SUMMARIES):
            parts = [f"{name}: {said}" for column, name in _SUMMARY_PARTS.items() if (said := row.get(column, ""))]
            if len(parts) < 2:
                yield LeftBehind(why="a session's summary that says nothing but what was asked")
                continue
            yield Memory(
                key=f"summary:{row['id']}",
                text="\n".join(parts),
                category="episode",
                ts=_when(row),
                project=row["project"] or None,
            )
        (prompts,) = database.execute(_PROMPTS).fetchone()
        if prompts:
            yield LeftBehind(why="a prompt: `mem backfill` reads it from the client's own sessions", many=prompts)


def _when(row: dict[str, str]) -> int | None:
    epoch = row.get("created_at_epoch", "")
    return moment(int(epoch)) if epoch.isdecimal() and len(epoch) < 16 else moment(row.get("created_at"))


def _observation(row: dict[str, str]) -> str:
    head = ": ".join(filter(None, (row.get("title", ""), row.get("subtitle", ""))))
    body = row.get("narrative", "") or row.get("text", "")
    facts = [f"- {each}" for each in list_of_texts(row.get("facts", "")) if each not in body]
    return "\n".join(filter(None, (head, body, *facts)))


CLAUDE_MEM = OtherMemory(
    name="claude-mem",
    title="claude-mem",
    default=lambda places: f"{places.user_home}/.claude-mem/claude-mem.db",
    read=_read,
)
