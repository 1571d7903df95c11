"""The password of the server's role, where the database wants one: from the environment, and never in clear to anybody.

What is sent is the hash that PostgreSQL itself would make of it, so that no log of the database holds the password.
"""

from __future__ import annotations

import os

import psycopg
from psycopg import sql

from siftd.errors import StoreError

VARIABLE = "SIFTD_TEAM_APP_PASSWORD"
APP = "siftd_app"


def set_app_password(dsn: str) -> bool:
    """Give the server's role the password of the environment; return whether there is one. Raises StoreError."""
    password = os.environ.get(VARIABLE, "")
    if not password:
        return False
    try:
        with psycopg.connect(dsn) as connection:
            hashed = connection.pgconn.encrypt_password(password.encode(), APP.encode(), b"scram-sha-256").decode()
            connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(APP), sql.Literal(hashed)))
    except psycopg.Error as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise StoreError(
            f"{APP} could not be given its password ({first})", hint=f"ALTER ROLE {APP} PASSWORD …"
        ) from error
    return True
