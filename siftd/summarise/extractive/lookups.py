"""Summaries of what looks things up: in files, in the language server, on the web, among tools."""

from __future__ import annotations

import re

from siftd.summarise.extractive.code import headings, statements
from siftd.summarise.extractive.gist import gist, matches_gist
from siftd.summarise.extractive.text import (
    SEEN,
    SPOKEN,
    THIN,
    Call,
    Line,
    clip,
    count_of,
    join_within,
    lines_of,
    mapping,
    printed,
    relative,
    sequence,
    string,
    unique,
)

_MATCH = re.compile(r"^([^\s:]{1,300}?):(\d{1,7}):[ \t]*(.{0,300})", re.MULTILINE)
_NUMBERED = re.compile(r"^(\d{1,7}):[ \t]*(.{0,300})", re.MULTILINE)


def grep(call: Call) -> Line:
    """ "Searched validate_token: src/auth.py, tests/test_auth.py — def validate_token(token, now=None):"."""
    response = mapping(call.response)
    where = call.path("path")
    glob = call.word("glob", "include", "type")
    scope = (f" in {where}" if where else "") + (f" ({clip(glob, 40)})" if glob else "")
    said = f"Searched {clip(call.word('pattern', 'query', 'regex'), 120) or 'files'}{scope}"
    files = unique((relative(string(name), call.cwd) for name in sequence(response.get("filenames"))[:40]), 12)
    content = string(response.get("content")) or ("" if response else printed(call.response))
    numbered = _NUMBERED.findall(content[:6_000]) if where else []
    if numbered:
        lines = join_within((number for number, _ in numbered), 80)
        return Line(f"{said}: line{'s' if len(numbered) > 1 else ''} {lines} — {clip(numbered[0][1], 150)}", SEEN)
    if found := _MATCH.findall(content[:6_000]):
        seen_from_here = [(relative(path, call.cwd), number, text) for path, number, text in found]
        return Line(f"{said}: {matches_gist(seen_from_here, 230)}", SEEN)
    if files:
        count = count_of(response.get("numFiles"))
        more = f" ({count} files)" if count and count > 3 else ""
        return Line(f"{said}{more}: {join_within(files, 230)}", SEEN)
    if content.strip():
        return Line(f"{said}: {statements(lines_of(content, 6), 220)}", SPOKEN)
    return Line(f"{said}: nothing found", SEEN if response or call.response is not None else THIN)


def glob(call: Call) -> Line:
    """The files that a pattern or a listing names."""
    response = mapping(call.response)
    where, pattern = call.path("path", "dir_path"), clip(call.word("pattern", "glob_pattern"), 120)
    said = f"Listed {pattern or where or 'files'}" + (f" in {where}" if pattern and where else "")
    names = sequence(response.get("filenames")) or printed(call.response)[:6_000].split("\n")
    files = unique((relative(string(name).strip(), call.cwd) for name in names[:40]), 20)
    count = count_of(response.get("numFiles"))
    if not files:
        return Line(f"{said}: nothing found", SEEN if response else THIN)
    return Line(f"{said}{f' ({count} files)' if count and count > 3 else ''}: {join_within(files, 250)}", SEEN)


def language_server(call: Call) -> Line:
    """What the language server told about a place in a file."""
    path, line = call.path("filePath", "file_path"), count_of(call.input.get("line"))
    said = f"LSP {call.word('operation') or 'request'}" + (f" on {path}" if path else "") + (f":{line}" if line else "")
    body = statements(lines_of(printed(call.response), 10), 240)
    return Line(f"{said}: {body}", SEEN) if body else Line(said, THIN)


def web_fetch(call: Call) -> Line:
    """What a page said to the question put to it."""
    response = mapping(call.response)
    url = clip(call.word("url") or string(response.get("url")) or call.word("prompt"), 150) or "a page"
    code = count_of(response.get("code"))
    status = f" ({code} {clip(string(response.get('codeText')), 30)})" if code and code != 200 else ""
    text = string(response.get("result")) or printed(call.response)
    asked = call.word("prompt") if call.word("url") else ""
    body = statements(_spoken(text), 200) if text.strip() else ""
    said = f"Fetched {url}{status}" + (f" [{clip(asked, 90)}]" if asked and len(url) < 110 else "")
    return Line(f"{said}: {body}", SPOKEN) if body else Line(said, THIN)


def web_search(call: Call) -> Line:
    """The query and the titles it brought."""
    query = call.word("query") or string(mapping(call.response).get("query"))
    results = sequence(mapping(call.response).get("results"))[:10]
    hits = [mapping(hit) for result in results for hit in sequence(mapping(result).get("content"))[:8]]
    titles = [clip(string(hit.get("title")), 90) for hit in hits]
    body = join_within(unique(titles, 6), 240, "; ") or gist(printed(call.response), 220)
    said = f"Searched the web for {clip(query, 130) or 'something'}"
    return Line(f"{said}: {body}", SPOKEN) if body else Line(said, THIN)


def tool_search(call: Call) -> Line:
    """Which deferred tools a query brought."""
    query = clip(call.word("query"), 120)
    matches = sequence(mapping(call.response).get("matches"))
    names = unique((string(name) or string(mapping(name).get("name")) for name in matches[:20]), 12)
    return Line(
        f"Searched tools for {query or 'a tool'}: {join_within(names, 220) or 'none found'}", SEEN if names else THIN
    )


def _spoken(text: str) -> list[str]:
    """Return the lines of a page's digest without its titles."""
    titles = set(headings(text[:4_000]))
    lines = [line for line in lines_of(text, 12) if line.lstrip("# ") not in titles]
    return [line.strip("*- ") for line in lines]
