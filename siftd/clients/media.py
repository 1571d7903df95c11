"""Images and documents in payloads, replaced by their type and size.

Nobody searches base64, and one screenshot outweighs a day of text. What is kept says that there was one:
`{"type": "image", "media_type": "image/png", "bytes": 52110}`.
"""

from __future__ import annotations

from typing import Any

DATA_URI_HEAD = 100
"""Characters of a string in which a data URI's `;base64,` must show; real ones need some twenty."""


def may_hold_media(raw: bytes) -> bool:
    """A cheap look at the undecoded bytes: False is certain, True needs `without_media`."""
    return b"base64" in raw or b"mimeType" in raw


def without_media(value: Any) -> Any:
    """The value with each base64 block, at any depth, replaced by what is known of it."""
    if isinstance(value, str):
        return _describe_data_uri(value)
    if isinstance(value, list):
        return [without_media(item) for item in value]
    if isinstance(value, dict):
        return _describe_block(value) or {key: without_media(item) for key, item in value.items()}
    return value


def _describe_block(block: dict[str, Any]) -> dict[str, Any] | None:
    """A block as the API, MCP or the Read tool shapes it; None for anything else."""
    match block:
        case {"type": str(kind), "source": {"type": "base64", "data": str(data), **source}}:
            return {"type": kind, "media_type": source.get("media_type"), "bytes": _decoded_bytes(data)}
        case {"type": str(kind), "data": str(data), "mimeType": str(media_type)}:
            return {"type": kind, "media_type": media_type, "bytes": _decoded_bytes(data)}
        case {"base64": str(data), **rest}:
            return {**without_media(rest), "bytes": _decoded_bytes(data)}
    return None


def _describe_data_uri(text: str) -> str:
    """A string that is a data URI from end to end; one inside other text is that text's business."""
    if not text.startswith("data:"):
        return text
    head, found, data = text.partition(";base64,")
    if not found or len(head) > DATA_URI_HEAD or any(blank in data for blank in " \n"):
        return text
    return f"[{head.removeprefix('data:')}, {_decoded_bytes(data)} bytes]"


def _decoded_bytes(data: str) -> int:
    return len(data) * 3 // 4 - data[-2:].count("=")
