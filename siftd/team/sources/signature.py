"""Who sent a webhook: a signature over its bytes, checked in constant time before anything of it is read.

    webhook-id, webhook-timestamp, webhook-signature: v1,BASE64     Standard Webhooks: HMAC-SHA256 over `id.time.body`;
                                                                     what GitLab's signing tokens and programs of one's
                                                                     own send
    x-hub-signature-256: sha256=HEX                                  GitHub: HMAC-SHA256 over the body

A signed time may be WINDOW_SECONDS off, either way. GitHub signs none: what it sends twice is an update that is known
already, and what is older than what is there changes nothing, so that sending it again does no harm.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping, Sequence

WINDOW_SECONDS = 300
SECRET_BYTES_MIN = 16
SIGNATURES_MAX = 8
"""Of one webhook: a sender whose secret is being changed signs with both."""


def is_signed(headers: Mapping[str, str], body: bytes, secrets: Sequence[bytes], now_seconds: int) -> bool:
    """Whether somebody who knows one of these secrets has sent this body, now. Names of headers are in small letters.

    Every secret is tried, whichever fits. A secret that is shorter than SECRET_BYTES_MIN fits nothing.
    """
    usable = [secret for secret in secrets if len(secret) >= SECRET_BYTES_MIN]
    if "webhook-signature" in headers:
        return _is_standard(headers, body, usable, now_seconds)
    given = headers.get("x-hub-signature-256", "")
    digests = [f"sha256={hmac.digest(secret, body, hashlib.sha256).hex()}" for secret in usable]
    matches = [_is_equal(digest, given) for digest in digests]  # each is compared, whichever fits
    return any(matches)


def signature(secret: bytes, name: str, seconds: int, body: bytes) -> str:
    """Return what belongs into `webhook-signature` of a message `name` that is sent at `seconds`."""
    digest = hmac.digest(secret, f"{name}.{seconds}.".encode() + body, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


def secret_of(written: str) -> bytes:
    """Return the bytes of a secret as people write it: `whsec_` and base64, or any other text as it is."""
    written = written.strip()
    if written.startswith("whsec_"):
        try:
            return base64.b64decode(written.removeprefix("whsec_"), validate=True)
        except (binascii.Error, ValueError):
            return b""
    return written.encode()


def _is_standard(headers: Mapping[str, str], body: bytes, secrets: list[bytes], now_seconds: int) -> bool:
    name, written = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not 1 <= len(name) <= 256 or not (written.isascii() and written.isdigit() and len(written) <= 12):
        return False
    given = headers["webhook-signature"].split(" ")[:SIGNATURES_MAX]
    wanted = [signature(secret, name, int(written), body) for secret in secrets]
    matches = [_is_equal(each, other) for each in wanted for other in given]
    return any(matches) and abs(now_seconds - int(written)) <= WINDOW_SECONDS


def _is_equal(wanted: str, given: str) -> bool:
    return hmac.compare_digest(wanted.encode(), given.encode("utf-8", "replace"))
