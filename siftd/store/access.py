"""The database as everything outside of `siftd.store` knows it: opened here, handed to the store's functions, closed.

No SQL stands outside of this room, so nobody there needs to know that it is SQLite.
"""

from __future__ import annotations

import sqlite3
from typing import NewType

Database = NewType("Database", sqlite3.Connection)
"""An open database. Outside of the store it is only handed on, and closed by whoever opened it."""

DatabaseError = sqlite3.Error
"""What a database raises that is locked, full or damaged; `siftd.store.connection.translate` makes ours of it."""

SQLITE_VERSION = sqlite3.sqlite_version
