"""Reading in: a tree of 10,000 files with 100 MB of text, and again when nothing has changed; chunks a second.

The text has words as frequent as in a language, in Markdown with headings, and every fourth file is Python. The first
time ends when each chunk can be found by its words and by its vector.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench_search import Language
from bench_stand import MEM, Bench, ask, bench, processor_seconds

from siftd.documents.kinds import kind_of_name
from siftd.documents.splitting import iter_chunks
from siftd.embed import hash384
from siftd.store.connection import open_writer

FILES = int(os.environ.get("SIFTD_BENCH_FILES", "10000"))
"""Fewer for a first look."""
FILE_CHARS = 10_000
_FOLDER_FILES = 100
_SECTION_WORDS = 180
_WORDS = 1_550
"""About `FILE_CHARS`."""
_TICK_MS = 86_400_000


def write_tree(folder: Path) -> int:
    """Write the files; return how many bytes they have."""
    language = Language(2)
    size = 0
    for number in range(FILES):
        words = language.text(language.draw(_WORDS)).split()
        parts = [words[at : at + _SECTION_WORDS] for at in range(0, len(words), _SECTION_WORDS)]
        text = "\n".join(map(_function if number % 4 == 0 else _section, parts))
        path = folder / f"part{number // _FOLDER_FILES:03}" / f"file{number}.{'py' if number % 4 == 0 else 'md'}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        size += len(text)
    return size


def _section(words: list[str]) -> str:
    sentences = [" ".join(words[at : at + 15]).capitalize() + "." for at in range(3, len(words), 15)]
    return f"## {' '.join(words[:3])}\n\n{' '.join(sentences)}\n"


def _function(words: list[str]) -> str:
    lines = [f"    {words[at]} = {'_'.join(words[at + 1 : at + 4])}({', '.join(words[at + 4 : at + 8])})" for at in
             range(2, len(words) - 8, 8)]  # fmt: skip
    return f"\ndef {words[0]}_{words[1]}():\n" + "\n".join(lines) + "\n"


def figures() -> Iterator[dict[str, Any]]:
    with bench(memory__embedder="hash-384", memory__consolidator__tickMs=_TICK_MS) as running:
        size = write_tree(running.workspace / "tree")
        what = f"{FILES:,} files, {size / 1e6:.0f} MB"
        first, _ = _ingest(running)
        first += _drain(running)[0]
        again, _ = _ingest(running)
        yield {
            "what": f"{what}, read in again unchanged, beside the first time",
            "goal": "≤ 0.05 ×",
            "ratio": again / first,
            "told": f"{again:.1f} s beside {first:.1f} s",
        }
        peak = max(_peak_mb(running), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
        yield {"what": f"{what}, peak memory of the daemon or of `mem ingest`", "goal": "≤ 300 MB", "mb": peak}
        chunks = _take_chunks_away(running)
        rate = chunks / _drain(running)[1]
        alone = embedding_alone(running.workspace / "tree")
        yield {
            "what": "chunks a second of the daemon's processor, split, stored, indexed and embedded (hash-384), beside"
            " embedding alone",
            "goal": "≥ 0.6 ×",
            "ratio": rate / alone,
            "rate": rate,
            "yardstick_rate": alone,
        }


def _drain(running: Bench) -> tuple[float, float]:
    """Have all done that waits; return the seconds that it took, and those of the daemon's processor."""
    assert running.daemon is not None
    started, worked = time.perf_counter(), processor_seconds(running.daemon.pid)
    with running.connect() as connection:
        ask(connection, {"kind": "drain"})
    return time.perf_counter() - started, processor_seconds(running.daemon.pid) - worked


def _take_chunks_away(running: Bench) -> int:
    """Leave the documents without their chunks, as a better splitter would find them; return how many there were."""
    database = running.database
    running.stop()
    connection = open_writer(str(database))
    (count,) = connection.execute("SELECT count(*) FROM chunks").fetchone()
    connection.execute("DELETE FROM chunks")
    connection.execute("UPDATE documents SET split_by = NULL")
    connection.close()
    running.start()
    return int(count)


def _ingest(running: Bench) -> tuple[float, dict[str, Any]]:
    started = time.perf_counter()
    done = subprocess.run(
        [MEM, "ingest", "tree", "--json"],
        cwd=running.workspace,
        env=running.environment,
        capture_output=True,
        check=True,
    )
    return time.perf_counter() - started, json.loads(done.stdout)


def embedding_alone(tree: Path, files: int = 400) -> float:
    """Return how many chunks a second of a processor are embedded, by a sample of the files."""
    texts = []
    for path in sorted(tree.rglob("*.*"))[:: max(1, FILES // files)]:
        texts += [chunk.text for chunk in iter_chunks(kind_of_name(path.name), path.read_text(), path.name)]
    started = time.process_time()
    for at in range(0, len(texts), 64):
        hash384.embed(texts[at : at + 64])
    return len(texts) / (time.process_time() - started)


def _peak_mb(running: Bench) -> float:
    """Return the most memory that the daemon ever held (Linux)."""
    assert running.daemon is not None
    status = Path(f"/proc/{running.daemon.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024
