"""Insert again what the log tells and the database lacks: python scripts/reinsert.py WORKSPACE_FOLDER (daemon stopped)."""

import sqlite3
import sys

from siftd.log.recovery import iter_records

SQL = "INSERT OR IGNORE INTO events (id, ts, session_id, tool, input_hash, payload_json, uid) VALUES (?, ?, ?, ?, ?, ?, ?)"
with sqlite3.connect(f"{sys.argv[1]}/db.sqlite") as database:
    for each in iter_records(f"{sys.argv[1]}/wal.ndjson"):
        if each.kind == "capture":
            text = bytes(each.payload).decode()
            row = (each.seq, each.ts, each.session_id, each.tool, each.input_hash, text, each.uid)
            database.execute(SQL, row)
