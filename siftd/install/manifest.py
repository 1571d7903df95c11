"""The manifest: what `mem install` changed, kept so that `mem uninstall` can give back every byte.

    $SIFTD_HOME/<ns>/install.json, mode 0600, replaced atomically, written *before* the files it speaks of:

    {"version": 2,
     "files": {"/home/a/.codex/hooks.json": {"kind": "json", "toml", "own" or "block",
                                             "client": "codex",
                                             "before": "<base64, or null: there was no file>",
                                             "kept": true,
                                             "after": "<SHA-256 of the bytes we left, lower hex>"}},
     "folders": ["/home/a/.codex"]}                       those that we created

Rule: a file whose SHA-256 is `after` is as we left it and goes back to `before`. Any other was changed by somebody
since, or the crash came before our write; from it exactly our entries are taken.

Of a file that holds keys too "kept" is false: none of its bytes are kept, and our entries are taken out of it always.

Version 1 knew one client, whose records have neither `client` nor `kept`, and are of the kinds "settings", "command"
and "servers" ("before" of the last is null or empty: none of its bytes are kept). A manifest that has no other is
still written as version 1, for an older siftd to read.

Compatibility: a higher version is refused by name; unknown fields are dropped at the next write.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Literal

from siftd.errors import SiftdError
from siftd.install.files import list_missing_folders, make_folders, read_file, remove_file, replace_file

VERSION = 2

Kind = Literal["settings", "command", "servers", "json", "toml", "own", "block"]
OF_VERSION_1: tuple[Kind, ...] = ("settings", "command", "servers")
KINDS: tuple[Kind, ...] = (*OF_VERSION_1, "json", "toml", "own", "block")


@dataclass(frozen=True, slots=True)
class Record:
    """What one file held before us, and the hash of how we left it."""

    kind: Kind
    before: bytes | None
    after: str
    client: str = ""
    """Whose file it is; empty for the one client of version 1."""
    is_verbatim: bool = True
    """Whether `before` is what the file held; if not, it holds keys, and `before` says only that it was there."""

    def is_as_left(self, current: bytes) -> bool:
        return digest(current) == self.after


@dataclass(slots=True)
class Manifest:
    """Every file and folder that is changed, by path."""

    files: dict[str, Record] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_manifest(path: str) -> Manifest:
    """Return the manifest at `path`, empty if there is none. Raises SiftdError if it cannot be understood."""
    data = read_file(path)
    if data is None:
        return Manifest()
    try:
        return _parse(json.loads(data))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SiftdError(
            f"{path} cannot be understood",
            hint="move it away: without it exactly our entries are taken out of each file",
        ) from error


def write_manifest(path: str, manifest: Manifest) -> None:
    """Make the file at `path` say what `manifest` says; an empty manifest has no file."""
    current = read_file(path)
    if not manifest.files:
        if current is not None:
            remove_file(path)
        return
    data = _format(manifest)
    if data != current:
        missing = list_missing_folders(path)
        manifest.folders += missing
        make_folders(missing, mode=0o700)
        replace_file(path, _format(manifest), expected=current, mode=0o600)


def _parse(document: dict[str, Any]) -> Manifest:
    if document["version"] > VERSION:
        raise SiftdError("install.json was written by a newer siftd", hint="use that one, or upgrade this one")
    files = {path: _parse_record(record) for path, record in document["files"].items()}
    return Manifest(files, list(document["folders"]))


def _parse_record(record: dict[str, Any]) -> Record:
    if record["kind"] not in KINDS:
        raise ValueError("an unknown kind of file")
    before, client = _decode(record["before"]), record.get("client", "")
    return Record(record["kind"], before, record["after"], client, bool(record.get("kept", True)))


def _format(manifest: Manifest) -> bytes:
    files = {path: _format_record(record) for path, record in manifest.files.items()}
    is_old = all(record.kind in OF_VERSION_1 for record in manifest.files.values())
    document = {"version": 1 if is_old else VERSION, "files": files, "folders": manifest.folders}
    return (json.dumps(document, indent=2) + "\n").encode()


def _format_record(record: Record) -> dict[str, Any]:
    fields = {"kind": record.kind, "before": _encode(record.before), "after": record.after}
    return fields if record.kind in OF_VERSION_1 else {**fields, "client": record.client, "kept": record.is_verbatim}


def _encode(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")


def _decode(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text, validate=True)
