"""What every request has in common."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar, get_args

import msgspec

from siftd.wire.naming import field_name, kind_name

A_co = TypeVar("A_co", covariant=True)
"""What a request is answered with: a TypedDict that stands beside it."""


class Request(
    msgspec.Struct, Generic[A_co], rename=field_name, tag_field="kind", tag=kind_name, frozen=True, kw_only=True
):
    """Any request. `Search(Request[SearchAnswer])` says what answers it: mypy then checks handler and client."""

    changes_brief: ClassVar[bool] = False
    """Whether the kept brief may say something else after it."""
    may_be_global: ClassVar[bool] = False
    """Whether it may be about memories for every project (`siftd.wire.global_routing`, which names them without
    loading this)."""
    waits_for_log: ClassVar[bool] = False
    """Whether it stands on what is stored: then the database catches up with the log before."""


def answer_type(request: type[Request[Any]]) -> Any:
    """Return what a kind of request is answered with."""
    (base,) = request.__orig_bases__  # type: ignore[attr-defined]
    return get_args(base)[0]
