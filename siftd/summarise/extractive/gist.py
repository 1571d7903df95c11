"""The short of a result that nobody knows the form of."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from siftd.summarise.extractive.code import statements
from siftd.summarise.extractive.text import (
    bounded,
    clip,
    join_within,
    lines_of,
    mapping,
    one_line,
    printed,
    unique,
)

_INFORMATIVE_KEYS = (
    "title", "subject", "name", "identifier", "number", "state", "status", "message", "error", "reason", "summary",
    "description", "query", "url", "html_url", "path", "file", "branch", "version", "count", "total",
    "body", "text", "result", "id",
)  # fmt: skip
_MAX_JSON_CHARS = 12_000
_LOOKED_AT = 2_000
_MATCH_LINE = re.compile(r"^([^\s:]{1,200}\.\w{1,8}):(\d{1,7}):[ \t]*(.{0,300})$", re.MULTILINE)
_LISTING = re.compile(r"^[-dl][rwxsStT-]{9}[@+.]?\s")
_DECORATION = re.compile(r"^[\s\W_]*$")
_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]{200,}")
_MARKS = re.compile(r"^(?:#{1,6}|>|[-*•])\s+|\*\*|^=+\s+|\s+=+$")
_CHATTER = re.compile(
    r"```|\[[\w:-]{1,40}\] \$ |> \S+@\d|> \w+ "
    r"|\?\s.*\[no test files\]|=== (?:RUN|PAUSE|CONT)\b|go: downloading|Shell cwd was reset"
    r"|\s*<!--|\(use \"git"
)
_HTML = re.compile(r"<!--.{0,400}?-->|</?[a-zA-Z][^<>]{0,200}>|\*\*|#{2,6} ", re.DOTALL)
_JSON_FIELD = re.compile(r'"(title|name|state|status|message|error|path|html_url|body)":\s*"((?:[^"\\\n]|\\.){1,160})')
_DIFF = re.compile(r"^diff --git a/(\S{1,200}) ", re.MULTILINE)


def gist(text: str, limit: int) -> str:
    """Return what a printed result is about: fields of JSON, places of matches, files of a diff, else first lines."""
    if text[:1] in "{[" and len(text) < _MAX_JSON_CHARS and (said := json_gist(text, limit)):
        return said
    text = bounded(text.replace("\\n", "\n") if text[:1] == '"' else text).strip()
    if not text:
        return ""
    if text[0] in "{[" and (said := json_gist(text, limit)):
        return said
    if files := _DIFF.findall(text):
        return "diff of " + join_within(unique(files, 8), limit - 8)
    if len(matches := _MATCH_LINE.findall(text[:4_000])) > 1:
        return matches_gist(matches, limit)
    return statements(_readable(lines_of(text, 12)), limit)


def matches_gist(matches: list[tuple[str, str, str]], limit: int) -> str:
    """Say where matches are, then the first of them."""
    places = join_within(unique((path for path, _, _ in matches), 6), limit * 3 // 5)
    return f"{places} — {clip(matches[0][2], limit - len(places) - 3)}" if limit - len(places) > 40 else places


def json_gist(text: str, limit: int) -> str:
    """Return the telling fields of a JSON text, also of one cut short; "" when it tells nothing short."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        found = dict(reversed(_JSON_FIELD.findall(text[:6_000])))
        return join_within((f"{key}: {clip(_unescaped(said), 110)}" for key, said in reversed(found.items())), limit)
    return value_gist(value, limit)


def value_gist(value: Any, limit: int) -> str:
    """Return the telling fields of a value: preferred names first, scalars only, never a dump."""
    if isinstance(value, str):
        return clip(value, limit)
    if isinstance(value, list):
        return join_within(filter(None, (_fields(part, 90) for part in value[:6])), limit, "; ")
    fields = _fields(value, limit)
    if fields:
        return fields
    for inner in list(mapping(value).values())[:6]:
        if isinstance(inner, dict | list) and (said := _nested(inner, limit)):
            return said
    return ""


def arguments(values: dict[str, Any], limit: int) -> str:
    """Return a call's short arguments as `name: value`."""
    shown = (
        f"{one_line(key[:60])}: {_scalar(value, 100)}"
        for key, value in list(values.items())[:30]
        if _scalar(value, 100)
    )
    return join_within(shown, limit)


def result_gist(response: Any, limit: int) -> str:
    """Return the short of a tool's result, whatever its shape."""
    text = printed(response)
    if text.strip():
        return gist(text, limit)
    return value_gist(response, limit)


def _nested(value: Any, limit: int) -> str:
    if isinstance(value, list):
        return join_within(filter(None, (_fields(part, 90) for part in value[:6])), limit, "; ")
    return _fields(value, limit)


def _fields(value: Any, limit: int) -> str:
    if not isinstance(value, dict):
        return _scalar(value, limit)
    said_in = [
        key for key in list(value)[:40] if isinstance(key, str) and key.endswith(("_body", "_message", "_title"))
    ]
    chosen = [*said_in[:2], *(key for key in _INFORMATIVE_KEYS if key in value)][:5] or [
        key for key in list(value)[:4] if isinstance(key, str)
    ]
    said = (f"{one_line(key[:60])}: {text}" for key in chosen if (text := _scalar(value[key], 110)))
    return join_within(said, limit)


def _scalar(value: Any, limit: int) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return clip(repr(value), limit)
    if not isinstance(value, str):
        return ""
    text = value[:_LOOKED_AT]
    return clip(_HTML.sub(" ", text) if "<" in text or "*" in text or "#" in text else text, limit)


def _unescaped(text: str) -> str:
    return _HTML.sub(" ", text.replace("\\n", " ").replace('\\"', '"').rstrip("\\"))


def _readable(lines: list[str]) -> list[str]:
    """Leave out rules, long encoded runs and the mode bits of listings."""
    lines_left = []
    for line in lines:
        if _ENCODED.search(line[:2_000]) or _CHATTER.match(line):
            continue
        if _LISTING.match(line):
            line = line.split(None, 8)[-1]
        line = _MARKS.sub("", line)
        if line not in (".", "..") and not _DECORATION.match(line[:300]):
            lines_left.append(line)
    return lines_left
