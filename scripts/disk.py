"""Log and database, without snapshots, against the payload bytes they keep: before and after sealed segments are compressed."""

from __future__ import annotations

import gzip
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

MEM = str(Path(sys.executable).with_name("mem"))


def fill(home: Path, folder: Path, transcripts: str) -> Path:
    """Read the transcripts in, drain and stop; return the workspace's folder."""
    environment = os.environ | {"SIFTD_HOME": str(home)}
    for arguments in (["backfill", transcripts, "--any-workspace"], ["drain"], ["stop"]):
        subprocess.run([MEM, *arguments], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    [workspace] = (home / "default" / "workspaces").iterdir()
    return workspace


def log_bytes(workspace: Path) -> tuple[int, int]:
    """Return the log's size with every segment plain, and with every one compressed."""
    plain = compressed = 0
    for segment in workspace.glob("wal*.ndjson*"):
        data = segment.read_bytes()
        lines = gzip.decompress(data) if segment.suffix == ".gz" else data
        plain += len(lines)
        compressed += len(data) if segment.suffix == ".gz" else len(gzip.compress(data, 6))
    return plain, compressed


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="siftd-", dir="/tmp") as root:
        folder = Path(root) / "work"
        folder.mkdir()
        workspace = fill(Path(root) / "home", folder, os.path.abspath(sys.argv[1]))
        stored = workspace / "db.sqlite"
        database = stored.stat().st_size
        plain, compressed = log_bytes(workspace)
        connection = sqlite3.connect(stored)
        events, payloads = connection.execute(
            "SELECT count(*), sum(length(CAST(payload_json AS BLOB))) FROM events"
        ).fetchone()
        if not events:
            raise SystemExit(f"there is no transcript in {sys.argv[1]}")
        print(f"{events:,} events, {payloads:,} bytes of payload, {payloads // events:,} each")
        tables = "SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY bytes DESC LIMIT 12"
        try:
            for name, size in connection.execute(tables):
                print(f"  {name:<28} {size / payloads:5.2f} ×")
        except sqlite3.OperationalError:
            print("  (this SQLite has no dbstat)")
        connection.close()
    for what, log in (("plain", plain), ("compressed", compressed)):
        print(f"log {what}: {log / payloads:.2f} ×, with the database {(log + database) / payloads:.2f} × the payloads")


if __name__ == "__main__":
    main()
