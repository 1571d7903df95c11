"""Which names mean a secret: of variables, of object keys, of command-line flags."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from siftd.redact.providers import KEYED_PROVIDERS, PROVIDERS

Kind = Literal["password", "secret", "key"]
"""A password may be a short human word with a twist; any other secret is generated; a key may be no secret at all."""

LONGEST_NAME = 64
"""Longer identifiers are not names. Arbitrary; twice the longest that is in use."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PASSWORDS = ("password", "passwd", "passphrase", "passwort", "passcode", "pwd")
_SECRETS = (
    "secret",
    "token",
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "authkey",
    "credential",
    "credentials",
    "creds",
    "crumb",
)
_TRAILERS = frozenset(
    {
        "base",
        "base64",
        "b64",
        "value",
        "raw",
        "string",
        "str",
        "text",
        "plain",
        "prod",
        "dev",
        "test",
        "live",
        "default",
        "s",
        "v",
        "b",
    }
)
_KEY_OWNERS = frozenset(
    [
        "api",
        "access",
        "account",
        "admin",
        "app",
        "application",
        "auth",
        "client",
        "consumer",
        "crypto",
        "deploy",
        "encrypt",
        "encryption",
        "encrypted",
        "hmac",
        "integration",
        "jwt",
        "license",
        "master",
        "oauth",
        "ops",
        "private",
        "project",
        "rest",
        "root",
        "secret",
        "server",
        "service",
        "session",
        "shared",
        "sign",
        "signing",
        "storage",
        "subscription",
        "write",
        "management",
        "ingest",
        "personal",
        "insert",
        "user",
        "bot",
        "webhook",
        "ssh",
        "pgp",
        "gpg",
        "aes",
        "rsa",
    ]
)
_HARMLESS_OWNERS = frozenset(
    [
        "next",
        "page",
        "continuation",
        "cancellation",
        "cancel",
        "public",
        "csrf",
        "eos",
        "bos",
        "pad",
        "unk",
        "sep",
        "mask",
        "stop",
        "start",
        "end",
    ]
)
_HARMLESS_KEYS = frozenset(
    [
        "public",
        "pub",
        "cache",
        "primary",
        "foreign",
        "sort",
        "partition",
        "routing",
        "idempotency",
        "dedupe",
        "group",
        "index",
        "query",
        "map",
        "row",
        "item",
        "object",
        "unique",
        "shortcut",
        "hot",
        "press",
        "lookup",
        "react",
        "record",
        "composite",
        "natural",
        "host",
        "known",
    ]
)


@lru_cache(maxsize=4096)
def kind_of_name(name: str) -> Kind | None:
    """Return what a value under this name is, or None when the name does not mean a secret."""
    if len(name) > 2 * LONGEST_NAME:
        return None
    words = [word.lower() for word in _WORD.findall(name)]
    while words and (words[-1].isdigit() or (len(words) > 1 and words[-1] in _TRAILERS)):
        words.pop()
    if not words:
        return None
    last, owner = words[-1], words[-2] if len(words) > 1 else ""
    if last.endswith(_PASSWORDS) or last in {"pass", "pw"}:
        return "password"
    if owner in _HARMLESS_OWNERS:
        return None
    if last.endswith(_SECRETS) or last in {"auth", "authentication", "authtoken"}:
        return "secret"
    if last == "key" and (owner in _KEY_OWNERS or owner in PROVIDERS or owner.endswith(("secret", "token"))):
        return "secret"
    if words[-3:] == ["access", "key", "id"] or words[-2:] == ["oauth", "signature"]:
        return "secret"
    if last == "id" and owner in PROVIDERS:
        return "key"
    if last in {"id", "accessid"} and (owner in {"access", "accessid"} or last == "accessid"):
        return "key"
    return "key" if last == "key" and owner not in _HARMLESS_KEYS else None


_LETTERS = re.compile(r"[a-z0-9]+")
_SECRET_ENDS = ("key", "token", "secret", "private", "access", "api", "client", "id")


def names_provider(text: str) -> bool:
    """Whether one of the words of `text` is the name of a service, alone or with a telling word grown onto it."""
    for word in _LETTERS.findall(text.lower()):
        for _ in range(3):
            if word in PROVIDERS:
                return True
            word = next((word.removesuffix(end) for end in _SECRET_ENDS if word.endswith(end)), "")
    return False


def names_keyed_provider(text: str) -> bool:
    """Whether one of the words of `text` is the name of a service that is no word of English and deals in no hashes."""
    return not KEYED_PROVIDERS.isdisjoint(_LETTERS.findall(text.lower()))
