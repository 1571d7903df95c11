"""Whose webhooks are taken: a private file with a line for each secret.

    # project                             secret                              token
    0b6c3c52-5f0e-4d5b-9d0b-6a6f2c4f8a11  whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2La  the token of `siftd team token`

The secret is what the other program signs with, two of one project while it is being changed. The token is a service's
own, so that what webhooks tell has an author, is counted, and ends when it is revoked: the server itself may write
nothing anywhere. Two files would have been no safer: who reads one of them may tell what the other allows.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from siftd.errors import ConfigInvalid
from siftd.team.sources.signature import SECRET_BYTES_MIN, is_signed, secret_of


@dataclass(frozen=True, slots=True, repr=False)
class Hook:
    """One secret, and in whose name what it signs is written."""

    secret: bytes
    digest: bytes
    """Of the service's token."""


Hooks = Mapping[uuid.UUID, Sequence[Hook]]


def read_hooks(text: str) -> Hooks:
    """Return the hooks that a file lists. Raises ConfigInvalid with the line's number, and nothing of what is in it."""
    found: dict[uuid.UUID, list[Hook]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            project, secret, token = words
            hook = Hook(secret_of(secret), hashlib.sha256(token.encode()).digest())
            known = found.setdefault(uuid.UUID(project), [])
        except ValueError:
            raise ConfigInvalid(f"line {number} of --webhooks-file: a project's id, a secret, a token") from None
        if len(hook.secret) < SECRET_BYTES_MIN:
            raise ConfigInvalid(
                f"line {number} of --webhooks-file: the secret is too short", hint=f"{SECRET_BYTES_MIN} bytes or more"
            )
        known.append(hook)
    return found


def find_hook(
    hooks: Hooks, project: uuid.UUID, headers: Mapping[str, str], body: bytes, now_seconds: int
) -> Hook | None:
    """Return the hook whose secret has signed this body lately; None where none has."""
    signed = [
        each for each in hooks.get(project, ()) if is_signed(headers, body, [each.secret], now_seconds)
    ]  # each is tried, whichever fits
    return signed[0] if signed else None
