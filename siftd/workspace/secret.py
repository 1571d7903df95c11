"""The workspace's secret: the key of every identity and placeholder, so that nobody can test a guess against them.

    <workspace>/secret        32 random bytes, made once
    <workspace>/secret.copy   the same, and 16 bytes of BLAKE2b over them: it tells whether it is whole

With another secret what was forgotten would come back with the next backfill, and everything else once more. So the
secret is never made a second time beside a store: what was lost or changed comes back from the copy, and where both
are gone nothing goes on before a person says so, by making `new-secret` beside them. Database and segments keep a
fingerprint (`fingerprint_of`), which tells a secret that was replaced, copy and all.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from siftd.errors import HomeUnusable
from siftd.workspace.home import write_private
from siftd.workspace.paths import WorkspacePaths

SECRET_BYTES = 32
_SUM_BYTES = 16


def ensure_secret(paths: WorkspacePaths) -> bytes:
    """Return the workspace's secret, made at first use. Two processes that race get the same one.

    Raises HomeUnusable where it and its copy are lost beside a store that was made with it.
    """
    secret, copy = _read(paths.secret), _read_copy(paths.secret_copy)
    if copy is not None:
        if secret != copy:
            write_private(Path(paths.secret), copy)
        return copy
    if secret is None or len(secret) != SECRET_BYTES:
        if _has_store(paths) and not Path(paths.new_secret).exists():
            raise lost(paths)
        secret = _make(paths)
    write_private(Path(paths.secret_copy), secret + _sum(secret))
    return secret


def fingerprint_of(secret: bytes) -> str:
    """Return what a secret is known by; it tells nothing of it."""
    return hashlib.blake2b(key=secret, digest_size=8, person=b"fingerprint").hexdigest()


def lost(paths: WorkspacePaths) -> HomeUnusable:
    """Return the error for a secret that is not the one this store was made with."""
    return HomeUnusable(
        f"{paths.secret} is not the secret that this store was made with",
        hint=f"put it back from a backup of that folder; or `touch {paths.new_secret}` and start: what was forgotten,"
        " or is stored, may then come in once more with a backfill",
    )


def _make(paths: WorkspacePaths) -> bytes:
    secret = Path(paths.secret)
    if secret.exists():  # of a wrong length
        secret.unlink()
    fresh = Path(f"{paths.secret}.{os.getpid()}")
    write_private(fresh, secrets.token_bytes(SECRET_BYTES))
    try:
        os.link(fresh, secret)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
    return secret.read_bytes()


def _has_store(paths: WorkspacePaths) -> bool:
    folder = Path(paths.folder)
    return Path(paths.database).exists() or any(folder.glob("wal*.ndjson*")) or any(folder.glob("snapshots/*.sqlite"))


def _read(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        return None


def _read_copy(path: str) -> bytes | None:
    data = _read(path) or b""
    secret = data[:SECRET_BYTES]
    return secret if len(data) == SECRET_BYTES + _SUM_BYTES and data[SECRET_BYTES:] == _sum(secret) else None


def _sum(secret: bytes) -> bytes:
    return hashlib.blake2b(secret, digest_size=_SUM_BYTES, person=b"copy").digest()
