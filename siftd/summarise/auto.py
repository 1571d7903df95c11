"""`auto`: the local model that is there, else the built-in backend. Never a remote one, whatever else is configured.

Asked once, when the backend is made: a refused connection answers at once, and a hung server costs PROBE_SECONDS.
"""

from __future__ import annotations

import http.client
from urllib.parse import urlsplit

import msgspec

from siftd.config import is_loopback

PROBE_SECONDS = 0.5
DEFAULT_URL = "http://127.0.0.1:11434"
MAX_REPLY_BYTES = 1024 * 1024
OTHERWISE = "extractive"


class _Model(msgspec.Struct):
    name: str
    size: int = 0


class _Tags(msgspec.Struct):
    models: list[_Model] = []


def choose(base_url: str | None) -> str:
    """Return the backend to use: `ollama:` with the smallest model that the server on this machine has, or ours."""
    url = base_url or DEFAULT_URL
    if not is_loopback(url):
        return OTHERWISE
    models = [model for model in _installed(url) if "embed" not in model.name and not model.name.endswith("-cloud")]
    return f"ollama:{min(models, key=lambda model: (model.size, model.name)).name}" if models else OTHERWISE


def _installed(url: str) -> list[_Model]:
    parts = urlsplit(url if "//" in url else f"//{url}")
    connection = http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port or 11434, timeout=PROBE_SECONDS)
    try:
        connection.request("GET", "/api/tags")
        reply = connection.getresponse()
        body = reply.read(MAX_REPLY_BYTES)
        return msgspec.json.decode(body, type=_Tags).models if reply.status == 200 else []
    except (OSError, http.client.HTTPException, msgspec.MsgspecError, UnicodeDecodeError):
        return []
    finally:
        connection.close()
