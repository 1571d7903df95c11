"""A device of a team as a process that may be killed at any moment: it writes, or it follows the feed.

    python team_worker.py write FILE        change things of its own and push them, for ever
    python team_worker.py follow FILE       pull the feed and note each change as it came, for ever

FILE is an SQLite database that `prepare` made; whatever must outlive a kill is in there, changed as a laptop changes
it: what is own and what is dirty in one transaction, what was applied and the cursor in one. At SIGTERM it finishes:
a writer once nothing is dirty, a follower once it has read the head.
"""

from __future__ import annotations

import random
import signal
import sqlite3
import sys
import time
import uuid
from pathlib import Path

import httpx
import msgspec

from siftd.team.items import Forget, Put, content_hash, document_id
from siftd.team.protocol import Changed, Changes, Push, Pushed

TABLES = """
CREATE TABLE link (url TEXT, token TEXT, project TEXT, epoch TEXT, device TEXT);
CREATE TABLE own (id TEXT PRIMARY KEY, rev INTEGER NOT NULL, item BLOB);
CREATE TABLE dirty (id TEXT PRIMARY KEY, rev INTEGER NOT NULL);
CREATE TABLE seen (seq INTEGER NOT NULL, op TEXT NOT NULL, id TEXT NOT NULL, hash TEXT);
CREATE TABLE cursor (seq INTEGER NOT NULL);
INSERT INTO cursor VALUES (0);
"""
"""An item that is forgotten has no bytes. `seen` takes a change twice, if it is told twice: that is what is counted."""
PUSHED_AT_ONCE = 40
DIRTY_MAX = 60
"""Then nothing more is changed until the server has some of it: what is changed is to be there already."""
PAGE = 100
PAUSE_SECONDS = 0.02
"""Between two tries while nobody answers: the processes are many and the processors two."""


def prepare(file: Path, url: str, token: str, project: uuid.UUID, epoch: uuid.UUID, device: str) -> None:
    """Make the state of a device that has joined and done nothing yet."""
    store = _opened(file)
    store.executescript(TABLES)
    with store:
        store.execute("INSERT INTO link VALUES (?, ?, ?, ?, ?)", (url, token, str(project), str(epoch), device))
    store.close()


class Worker:
    """One device."""

    def __init__(self, file: Path) -> None:
        self.store = _opened(file)
        url, token, project, epoch, self.device = self.store.execute("SELECT * FROM link").fetchone()
        self.project, self.epoch = uuid.UUID(project), uuid.UUID(epoch)
        self.wire = httpx.Client(
            base_url=f"{url}/api/v1/projects/{project}",
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
            timeout=30,
        )
        self.ends = False
        signal.signal(signal.SIGTERM, self._end)

    def _end(self, *_: object) -> None:
        self.ends = True

    # Writing

    def write(self) -> None:
        drawn = random.Random()  # a seed would repeat what was done before the kill
        while not self.ends:
            if self._dirty() < DIRTY_MAX:
                self.change(drawn)
            self.push()
        while self._dirty():
            self.push()

    def _dirty(self) -> int:
        return int(self.store.execute("SELECT count(*) FROM dirty").fetchone()[0])

    def change(self, drawn: random.Random) -> None:
        """Make, change or forget a few things, as one transaction."""
        with self.store:
            for _ in range(drawn.randint(1, 6)):
                known = self.store.execute("SELECT id, rev, item FROM own ORDER BY random() LIMIT 1").fetchone()
                if known is None or drawn.random() < 0.5:
                    reference = f"{self.device}-{uuid.uuid4().hex[:12]}"
                    self._keep(self._item(reference, 1, drawn))
                elif known[2] is not None:
                    put = msgspec.json.decode(known[2], type=Put)
                    if drawn.random() < 0.3:
                        self._note(known[0], known[1] + 1, None)
                    else:
                        self._keep(self._item(put.source_ref, known[1] + 1, drawn))

    def _item(self, reference: str, rev: int, drawn: random.Random) -> Put:
        put = Put(
            id=document_id(self.project, "memory", reference), rev=rev, hash="0" * 64, source="memory",
            source_ref=reference, text=f"{reference} says {drawn.randint(0, 10**9)}", ts=1_700_000_000_000 + rev,
            metadata={"type": "fact"},
        )  # fmt: skip
        return msgspec.structs.replace(put, hash=content_hash(put))

    def _keep(self, put: Put) -> None:
        self._note(str(put.id), put.rev, msgspec.json.encode(put))

    def _note(self, identity: str, rev: int, item: bytes | None) -> None:
        self.store.execute("INSERT OR REPLACE INTO own VALUES (?, ?, ?)", (identity, rev, item))
        self.store.execute("INSERT OR REPLACE INTO dirty VALUES (?, ?)", (identity, rev))

    def push(self) -> None:
        rows = self.store.execute(
            "SELECT d.id, d.rev, o.item FROM dirty d JOIN own o USING (id) LIMIT ?", (PUSHED_AT_ONCE,)
        ).fetchall()
        if not rows:
            return
        items = [
            Forget(id=uuid.UUID(each), rev=rev) if item is None else msgspec.json.decode(item, type=Put)
            for each, rev, item in rows
        ]
        try:
            answer = self.wire.post("/push", content=msgspec.json.encode(Push(epoch=self.epoch, items=items)))
        except httpx.TransportError:
            time.sleep(PAUSE_SECONDS)
            return
        if _is_for_later(answer):
            return
        pushed = msgspec.json.decode(answer.content, type=Pushed)
        unexpected = [each for each in pushed.ignored if each.why not in ("older", "forgotten")]
        assert unexpected == [], unexpected  # a telling again, after an answer that was lost, is older or forgotten
        with self.store:
            self.store.executemany("DELETE FROM dirty WHERE id = ? AND rev = ?", [row[:2] for row in rows])

    # Following

    def follow(self) -> None:
        is_behind = True
        while not self.ends or is_behind:
            cursor = self._cursor()
            asked = {"after": cursor, "limit": PAGE, "wait": 0 if self.ends else 1, "applied": cursor}
            try:
                answer = self.wire.get("/changes", params=asked)
            except httpx.TransportError:
                time.sleep(PAUSE_SECONDS)
                continue
            if _is_for_later(answer):
                continue
            page = msgspec.json.decode(answer.content, type=Changes)
            self.apply(page)
            is_behind = page.cursor < page.head

    def _cursor(self) -> int:
        return int(self.store.execute("SELECT seq FROM cursor").fetchone()[0])

    def apply(self, page: Changes) -> None:
        """Note a page's changes and the cursor in one transaction."""
        with self.store:
            for each in page.changes:
                is_put = isinstance(each, Changed)
                row = ("put", str(each.item.id), each.item.hash) if is_put else ("forget", str(each.id), None)
                self.store.execute("INSERT INTO seen VALUES (?, ?, ?, ?)", (each.seq, *row))
            self.store.execute("UPDATE cursor SET seq = ?", (page.cursor,))


def _opened(file: Path) -> sqlite3.Connection:
    store = sqlite3.connect(file, timeout=30)
    store.execute("PRAGMA journal_mode = WAL")
    store.execute("PRAGMA synchronous = OFF")  # a process is killed here, not the machine
    return store


def _is_for_later(answer: httpx.Response) -> bool:
    if answer.status_code in (429, 502, 503, 504):
        time.sleep(PAUSE_SECONDS)
        return True
    assert answer.status_code == 200, (answer.status_code, answer.text)
    return False


def main() -> None:
    """Run until SIGTERM, and to the end then."""
    worker = Worker(Path(sys.argv[2]))
    print("ready", flush=True)
    if sys.argv[1] == "write":
        worker.write()
    else:
        worker.follow()


if __name__ == "__main__":
    main()
