"""The file `knowledge.json`: what a codebase tells of itself, as it is written down.

UTF-8 JSON, indented by two spaces so that people and `git diff` can read it, with a newline at its end:

    {
      "format": "siftd-knowledge",
      "version": 1,
      "hash": "9f0c…",              SHA-256 of the snapshot as compact JSON; what was edited does not fit it
      "snapshot": {
        "overview": {"evidence": ["pyproject.toml:2"], "name": "okapi", "says": "Feeds okapis."},
        "commit": "1a2b3c4d5e6f",
        "languages": [{"name": "Python", "files": 12, "version": ">=3.11", "evidence": ["pyproject.toml:5"]}],
        "packages": [{"name": "okapi", "path": "", "ecosystem": "python", "uses": ["anyio"], "evidence": […]}],
        "entryPoints": [{"name": "okapi", "kind": "command", "target": "okapi.cli:main", "path": "okapi/cli.py", …}],
        "commands": [{"kind": "test", "command": "pytest", "basis": "seen", "evidence": ["e12"]}],
        "conventions": [{"text": "tests lie in tests", "evidence": ["tests/test_hay.py:1"]}],
        "modules": [{"path": "okapi", "language": "Python", "files": 9, "lines": 800, "imports": [], "hash": "…", …}],
        "keyFiles": [{"path": "okapi/hay.py", "why": ["imported by 7 files"], "hash": "…", "evidence": […]}],
        "sources": [{"path": "pyproject.toml", "hash": "…"}],
        "skipped": [{"path": "package.json", "why": "it is no JSON"}],
        "leftOut": 0, "prose": null
      }
    }

Every part has `evidence`: `path:line`, `commit 1a2b3c4d5e6f` (as many digits as are needed here, twelve), or a cited id
of the store (`e12`, `m3`). Paths are relative to the root, with `/`. A file's `hash` is the first 16 hex digits of the
SHA-256 of its bytes; a module's, of the lines `name hash` of its files in order. Fields that say nothing are left out.

The same tree, history and store give the same bytes: no time of building and no name of a machine is in it.

Version 1. Fields may be added, and readers pass over those that they do not know; a newer version is refused. The
words in it are a project's own, and anybody's: whoever shows them quotes them.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import msgspec

from siftd.errors import KnowledgeUnreadable
from siftd.knowledge.model import Snapshot

FORMAT = "siftd-knowledge"
VERSION = 1
BYTES_MAX = 2 * 1024 * 1024
"""A snapshot of the largest tree, with every list at its most, has some 400 KB."""


class _File(msgspec.Struct):
    format: str
    version: int
    hash: str
    snapshot: msgspec.Raw


def plain(snapshot: Snapshot) -> dict[str, Any]:
    """Return a snapshot as plain JSON."""
    made: dict[str, Any] = msgspec.to_builtins(snapshot)
    return made


def from_plain(value: object) -> Snapshot:
    """Return the snapshot that plain JSON is. Raises KnowledgeUnreadable."""
    try:
        return msgspec.convert(value, Snapshot)
    except (msgspec.ValidationError, RecursionError) as error:
        raise KnowledgeUnreadable(
            "this is no snapshot of a codebase", hint="`mem knowledge build` makes one"
        ) from error


def hash_of(snapshot: Snapshot) -> str:
    """Return what the file says of its content."""
    return sha256(msgspec.json.encode(snapshot)).hexdigest()


def encode(snapshot: Snapshot) -> bytes:
    """Return the file of a snapshot."""
    whole = {"format": FORMAT, "version": VERSION, "hash": hash_of(snapshot), "snapshot": plain(snapshot)}
    return json.dumps(whole, ensure_ascii=False, indent=2).encode("utf-8", "replace") + b"\n"


def decode(data: bytes) -> Snapshot:
    """Return the snapshot of a file. Raises KnowledgeUnreadable for what is none, or is of a later siftd."""
    try:
        whole = msgspec.json.decode(data, type=_File)
        if whole.format != FORMAT:
            raise msgspec.ValidationError("another format")
        if whole.version > VERSION:
            raise KnowledgeUnreadable(f"the snapshot has version {whole.version}", hint="install the newer siftd")
        return msgspec.json.decode(whole.snapshot, type=Snapshot)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise KnowledgeUnreadable(
            "this is no snapshot of a codebase", hint="`mem knowledge build` makes one"
        ) from error


def is_as_written(data: bytes) -> bool:
    """Whether a file's hash fits what it says: nobody has edited it."""
    return msgspec.json.decode(data, type=_File).hash == hash_of(decode(data))
