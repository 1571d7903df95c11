"""Requests from bytes, answers to bytes."""

from __future__ import annotations

from functools import cache
from typing import Any, Union

import msgspec

from siftd.errors import RequestInvalid, SiftdError
from siftd.wire.requests.capturing import HookHeader
from siftd.wire.requests.request import Request

AnyRequest = Request[Any]
_header_decoder = msgspec.json.Decoder(HookHeader)
encode = msgspec.json.Encoder().encode


@cache
def request_decoder() -> msgspec.json.Decoder[AnyRequest]:
    """Return the decoder of all requests, once the package that lists their modules is loaded."""
    return msgspec.json.Decoder(Union[tuple(Request.__subclasses__())])  # noqa: UP007 - a union that is computed


def decode_request(message: bytes) -> AnyRequest:
    """Return the request in a JSON message. Raises RequestInvalid; its message names fields, never values."""
    try:
        return request_decoder().decode(message)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RequestInvalid(_reason(message, error), hint="see siftd/wire/requests/ for the requests") from None


def decode_header(header: bytes) -> HookHeader:
    """Return the header of a hook frame. Raises RequestInvalid."""
    try:
        return _header_decoder.decode(header)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RequestInvalid(f"the header of a hook frame is wrong ({type(error).__name__})") from None


def ok(**fields: Any) -> bytes:
    """Return the message of a good answer."""
    return encode({"ok": True, **fields})


def refused(error: SiftdError) -> bytes:
    """Return the message of a refusal; it begins as hooks expect."""
    described = {"code": error.code, "message": error.message, "hint": error.hint}
    return encode({"ok": False, "retry": error.retry, "error": described})


def progress(**fields: Any) -> bytes:
    """Return the message that tells how far long work is."""
    return encode({"progress": fields})


def _reason(message: bytes, error: Exception) -> str:
    if not isinstance(error, msgspec.ValidationError):
        return f"the message is not JSON ({type(error).__name__})"
    where = str(error).rpartition(" - at ")[2]
    field = where if where.startswith("`$") and where.endswith("`") else "`$`"
    if field == "`$.kind`" or b'"kind"' not in message[:4096]:
        return "the request has no known kind"
    return f"the request has a missing or wrong field at {field}"
