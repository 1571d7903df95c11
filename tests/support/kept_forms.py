"""What a released siftd has written, kept as files so that every later one still reads it: log, spool, schema, store.

`python tests/support/kept_forms.py` writes `schema/schema.sql` (the picture of the sum of the migrations) and whatever
of the kept forms is missing. A form that was released is never written again.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec

from siftd.capture.admission import Admission, Captured, as_stored
from siftd.log import spool
from siftd.log.record import encode, encode_segment, record_of
from siftd.model import Event, SessionChange
from siftd.redact import Redactor
from siftd.store.migrate import known_migrations, migrate

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "schema" / "schema.sql"
GOLDEN = ROOT / "tests" / "golden"
LOG = GOLDEN / "log-1.ndjson"
DOCUMENTS_LOG = GOLDEN / "log-1-documents.ndjson"
SPOOL = GOLDEN / "spool-1.json"
SPOOL_CHANGE = GOLDEN / "spool-1-session.json"
STORES = "store-{:04d}.sql"
"""By the number of the schema."""

_HEADER = """\
-- The picture of the sum of the numbered files, for people: nothing reads it but the test that redraws it.

"""


def admitted() -> list[Captured]:
    """Return the events that the kept forms hold."""
    admission = Admission(b"kept", Redactor(b"kept"), max_payload_bytes=262_144)
    call = Event(
        client="claude-code",
        session_id="5e551011-0000-4000-8000-000000000001",
        kind="tool",
        tool="Bash",
        action="run",
        payload={"tool_input": {"command": 'make "all"'}, "tool_response": {"stdout": "ü 漢\n", "stderr": ""}},
        ts=1_795_219_305_436,
        identity=("tool", "toolu_1"),
        native_id="toolu_1",
        outcome="ok",
        cwd="/src/demo",
        prompt_id="9a000000-0000-4000-8000-000000000001",
        agent_id="a1",
    )
    change = SessionChange(
        client="claude-code",
        session_id=call.session_id,
        change="start",
        ts=call.ts - 1,
        cwd="/src/demo",
        detail="startup",
    )
    return [
        admission.admit_change(change, frame_uid="00000000000000000000000000000001"),
        admission.admit(call, frame_uid="00000000000000000000000000000002"),
    ]


def log_bytes() -> bytes:
    """Return a log of version 1 as this siftd writes it."""
    change, call = admitted()
    uid = getattr(call, "uid", None)
    lines = [encode(record_of(change, 1, None)), encode(record_of(call, 2, uid))]
    return encode_segment("6f1c8a7e-0000-4000-8000-000000000001", 1_795_219_305_000) + b"".join(lines)


def documents_log_bytes() -> bytes:
    """Return a log of version 1 that holds a document, the same read in anew, a page, and that it was let go."""
    admission = Admission(b"kept", Redactor(b"kept"), max_payload_bytes=262_144)
    file = {
        "path": "docs/okapis.md",
        "title": "Okapis",
        "type": "markdown",
        "contentHash": "7c9fb1a35e0d4486a1c2e8f7b3d95a60",
        "metadata": {"encoding": "utf-8"},
        "text": "# Okapis\n\nThey sleep in the west barn.\n",
        "ts": 1_795_219_305_436,
    }
    page = {"url": "https://example.org/zebras", "title": "Zebras", "type": "html", "text": "Zebras: ü 漢", "ts": 5}
    changed = file | {"text": "# Okapis\n\nThey sleep in the east barn.\n", "ts": 1_795_219_305_437, "document": 1}
    records = [("document", file), ("document", page), ("document", changed), ("document_removed", {"document": 2})]
    lines = [
        encode(record_of(admission.admit_intent(kind, payload, ts=1_795_219_305_000 + seq), seq, None))
        for seq, (kind, payload) in enumerate(records, start=1)
    ]
    return encode_segment("6f1c8a7e-0000-4000-8000-000000000001", 1_795_219_305_000) + b"".join(lines)


def spool_bytes(event: Captured) -> bytes:
    """Return a spool file of version 1 as this siftd writes it."""
    return msgspec.json.encode({"version": spool.VERSION, **as_stored(event)})


def picture(connection: sqlite3.Connection) -> str:
    """Return what a database consists of, one statement after the other, without what SQLite makes by itself."""
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
        " ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 ELSE 3 END, tbl_name, name"
    ).fetchall()
    full_text = [name for name, sql in rows if "USING fts5 " in sql]
    shadows = {f"{name}_{part}" for name in full_text for part in ("config", "content", "data", "docsize", "idx")}
    return "\n".join(f"{_plain(sql)};\n" for name, sql in rows if name not in shadows)


def _plain(sql: str) -> str:
    """A statement without its comments and with one blank where several align it."""
    lines = (re.sub(r"(?<=\S) {2,}", " ", re.sub(r"\s*--.*", "", line)).rstrip() for line in sql.splitlines())
    return "\n".join(line for line in lines if line).strip()


@contextlib.contextmanager
def fresh() -> Iterator[sqlite3.Connection]:
    """A new database with this siftd's schema, closed at the end."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, 1)
        yield connection


def fresh_picture() -> str:
    """Return the picture of this siftd's schema."""
    with fresh() as connection:
        return picture(connection)


def kept_store() -> str:
    """Return a store with a row of each kind as SQL that the sqlite3 program can read."""
    with fresh() as connection:
        connection.executescript(_ROWS)
        return "".join(_dumped(connection))


def _dumped(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield our tables, indexes and triggers, and their rows; full text is derived and filled by the triggers."""
    tables = [
        (name, sql)
        for name, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
        if not name.startswith("sqlite_") and not re.search(r"_(config|content|data|docsize|idx)$", name)
    ]
    yield from (f"{sql};\n" for _, sql in tables)
    others = (
        "SELECT sql FROM sqlite_master WHERE type IN ('index', 'trigger', 'view') AND sql IS NOT NULL ORDER BY rowid"
    )
    yield from (f"{sql};\n" for (sql,) in connection.execute(others))
    for name, sql in tables:
        if sql.startswith("CREATE TABLE") and name not in _BY_TRIGGER:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
            quoted = " || ',' || ".join(f"quote({column})" for column in columns)
            for (row,) in connection.execute(f"SELECT {quoted} FROM {name}"):
                yield f"INSERT INTO {name} VALUES ({row});\n"


_BY_TRIGGER = ("vector_changes", "graph_queue")
"""What the rows of other tables fill by themselves."""
_ROWS = """
INSERT INTO meta VALUES ('store', '6f1c8a7e-0000-4000-8000-000000000001'), ('applied_seq', '3');
INSERT INTO sessions VALUES ('s1', '/src/demo', 1000, 3000, NULL, 'claude-code', NULL);
INSERT INTO events (id, ts, session_id, tool, input_hash, payload_json, status, tokens_est, uid, outcome) VALUES
  (1, 1000, 's1', 'Bash', 'h1', '{"tool_input":{"command":"make okapi"}}', 'summarized', 10, 'u1', 'ok'),
  (2, 2000, 's1', 'Bash', 'h2', '{"tool_input":{"command":"make okapi"}}', 'summarized', 10, 'u2', 'ok'),
  (3, 3000, 's1', 'Edit', 'h3', '{"tool_input":{"file_path":"/src/demo/a.py"}}', 'raw', 11, 'u3', 'ok');
INSERT INTO summaries (id, event_id, ts, model, prompt_hash, text, tokens_in, tokens_out, confidence, words) VALUES
  (1, 1, 1500, 'extractive:1', 'p', 'Ran `make okapi`: ok', 0, 0, 0.9, 'ran make okapi ok'),
  (2, 2, 2500, 'extractive:1', 'p', 'Ran `make okapi`: ok', 0, 0, 0.9, 'ran make okapi ok');
INSERT INTO injections VALUES (1, 2900, 's2', 'UserPromptSubmit', 's2', 2, NULL, 2, '{"score":0.02}');
INSERT INTO summary_supersedes VALUES (2, 1, 1.0, 2600);
INSERT INTO summary_cache (cache_key, text, tokens_in, tokens_out, confidence, ts)
  VALUES ('k', 'Ran `make okapi`: ok', 0, 0, 0.9, 1500);
INSERT INTO facts (id, ts, updated_ts, category, text, uid, said_by, status, superseded_by, valid_to) VALUES
  (4, 4000, 4000, 'decision', 'Okapis sleep in the east barn.', 'f4', 'person', 'active', NULL, NULL),
  (5, 3500, 3500, 'decision', 'Okapis sleep in the west barn.', 'f5', 'person', 'superseded', 4, 4000);
INSERT INTO fact_sources VALUES (4, 1);
INSERT INTO fact_history VALUES (6, 5, 4000, 'supersede', 4, 'person', NULL, NULL);
INSERT INTO fact_uses VALUES (4, 2, 1, 0, 5000);
INSERT INTO entity_merges VALUES (8, 6000, 'a1', 'b2', NULL);
INSERT INTO documents (id, path, type, title, content_hash, chunk_count, ingested_ts, split_by) VALUES
  (7, 'docs/okapis.md', 'markdown', 'Okapis', 'h7', 1, 6000, 1);
INSERT INTO document_texts VALUES (7, '# Okapis' || char(10) || 'They sleep in the east barn.');
INSERT INTO chunks (id, document_id, chunk_index, heading, line, text, tokens) VALUES
  (1, 7, 0, 'Okapis', 1, 'They sleep in the east barn.', 7);
INSERT INTO chunk_embeddings VALUES (1, 1, 'hash-384', 1, x'00000000');
"""


def main() -> None:
    PICTURE.write_text(_HEADER + fresh_picture(), encoding="utf-8")
    change, call = admitted()
    for path, data in (
        (LOG, log_bytes()),
        (DOCUMENTS_LOG, documents_log_bytes()),
        (SPOOL, spool_bytes(call)),
        (SPOOL_CHANGE, spool_bytes(change)),
        (GOLDEN / STORES.format(known_migrations()[-1].number), kept_store().encode()),
    ):
        if not path.exists():
            path.write_bytes(data)


if __name__ == "__main__":
    main()
