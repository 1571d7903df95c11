"""Our entries in any TOML text, put in and taken out with every other byte as it was.

    [mcp_servers.siftd]        a table that has our name: a server of tools
    command = "…"

    [[hooks]]                  a row of an array of tables: a hook, known by what it runs
    event = "Stop"
    command = "…"

Each goes to the end of the text, behind a line break; taking it out takes that line break too. So text without a line
end at its end comes back without one. What an edit means is compared with what the text meant: all else is the same.
(A library that writes TOML anew keeps less: comments behind a table go with it.)
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from siftd.errors import SettingsUnreadable
from siftd.install.launcher import is_entry
from siftd.install.ours import NAME, is_our_handler, is_ours
from siftd.install.toml_spans import Section, list_sections

Path = tuple[str, ...]
HINT = "correct it by hand and run the command again; it was not touched"


def parse_toml(text: str) -> dict[str, Any]:
    """Return what a text means. Raises SettingsUnreadable."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsUnreadable(f"it is not TOML: {error}", hint=HINT) from error


def add_table(text: str, path: Path, value: Mapping[str, Any]) -> str:
    """Return `text` with our table at `path`, whose last key is our name. One of ours that is there keeps its place and
    its other keys. Raises SettingsUnreadable, also for one of that name that is not ours."""
    there = _value_at(parse_toml(text), path)
    if there is None:
        return _append(text, f"[{_dump_path(path)}]", value)
    if not is_ours(there):
        raise SettingsUnreadable(f'there is a "{path[-1]}" that is not ours', hint="rename it and run it again")
    if {key: there.get(key) for key in value} == dict(value):
        return text
    section = next((each for each in list_sections(text) if each.path == path and not each.is_row), None)
    if section is None:
        raise SettingsUnreadable(f'"{".".join(path)}" was written by hand', hint="take it out and run it again")
    return _update(text, section, value)


def add_rows(text: str, path: Path, rows: Sequence[Mapping[str, Any]], *, key: str = "event") -> str:
    """Return `text` with exactly one row of ours for each of `rows`, told apart by their `key`.

    One that is there keeps its place and its other keys; only its command is brought up to date.
    """
    wanted = {row[key]: row for row in rows}
    while section := _find_superfluous(text, path, key, wanted):
        text = _cut(text, section)
    for name, row in wanted.items():
        ours = next((each for each in _our_rows(text) if each.path == path and each.value.get(key) == name), None)
        if ours is None:
            text = _append(text, f"[[{_dump_path(path)}]]", row)
        else:
            text = _update(text, ours, {part: value for part, value in row.items() if is_entry(value)})
    return text


def remove_entries(text: str) -> str:
    """Return `text` without anything of ours. Raises SettingsUnreadable."""
    without = text
    while ours := list(_ours(without)):
        without = _cut(without, ours[-1])
    if parse_toml(without) != _without_ours(parse_toml(text)):
        raise SettingsUnreadable("our entries cannot be taken out of it", hint="take them out by hand")
    return without


def list_rows(text: str, path: Path) -> list[dict[str, Any]]:
    """Return our rows at `path`. Raises SettingsUnreadable."""
    parse_toml(text)
    return [section.value for section in _our_rows(text) if section.path == path]


def find_table(text: str, path: Path) -> Any:
    """Return our table at `path`; None if there is none of ours. Raises SettingsUnreadable."""
    value = _value_at(parse_toml(text), path)
    return value if is_ours(value) else None


# ---- finding -------------------------------------------------------------------------------------------------------


def _our_rows(text: str) -> Iterator[Section]:
    return (each for each in list_sections(text) if each.is_row and is_our_handler(each.value))


def _ours(text: str) -> Iterator[Section]:
    """Yield our rows, and our tables with the tables below them."""
    whole = parse_toml(text)
    for section in list_sections(text):
        if section.is_row and is_our_handler(section.value):
            yield section
        elif NAME in section.path:
            path = section.path[: section.path.index(NAME) + 1]
            if is_ours(_value_at(whole, path)):
                yield section


def _find_superfluous(text: str, path: Path, key: str, wanted: Mapping[Any, Any]) -> Section | None:
    seen: set[Any] = set()
    for section in _our_rows(text):
        name = section.value.get(key)
        if section.path != path or name not in wanted or name in seen:
            return section
        seen.add(name)
    return None


def _value_at(value: Any, path: Path) -> Any:
    for key in path:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise SettingsUnreadable(f'"{key}" is in no table', hint=HINT)
        value = value.get(key)
    return value


def _without_ours(value: Any) -> Any:
    """Return what is left of a meaning; a table or an array that held ours alone is gone too."""
    if not isinstance(value, dict):
        return value
    remaining = {}
    for key, each in value.items():
        if isinstance(each, list):
            left: Any = [item for item in each if not is_our_handler(item)]
        else:
            left = None if key == NAME and is_ours(each) else _without_ours(each)
        if left == each or left:
            remaining[key] = left
    return remaining


# ---- putting in and taking out -------------------------------------------------------------------------------------


def _append(text: str, header: str, value: Mapping[str, Any]) -> str:
    eol = _eol(text)
    lines = [header, *(f"{_dump_key(key)} = {_dump(each)}" for key, each in value.items())]
    added = (text + eol if text else "") + "".join(f"{line}{eol}" for line in lines)
    parse_toml(added)  # an array that is written in line, a table of dotted keys: neither can be gone on with
    return added


def _update(text: str, section: Section, value: Mapping[str, Any]) -> str:
    """Give keys of a section other values, each in its place."""
    missing: list[str] = []
    for key, each in value.items():
        found = next((statement for statement in section.statements if statement.value.keys() == {key}), None)
        if found is None:
            missing.append(key)
        elif found.value[key] != each:
            line = f"{_dump_key(key)} = {_dump(each)}{_eol(text)}"
            text = text[: found.start] + line + text[found.end :]
            return _update(text, _same(text, section), value)
    for key in missing:
        text = (
            text[: section.header.end]
            + f"{_dump_key(key)} = {_dump(value[key])}{_eol(text)}"
            + text[section.header.end :]
        )
    parse_toml(text)
    return text


def _same(text: str, section: Section) -> Section:
    return next(each for each in list_sections(text) if each.start == section.start)


def _cut(text: str, section: Section) -> str:
    """Cut a section, and the line break that came with it."""
    start, rest = section.start, text[section.end :]
    before = text[:start]
    shorter = before[: -len(_last_break(before))] if _last_break(before) else before
    if rest and not (shorter == "" or shorter.endswith("\n")):
        shorter = before
    return shorter + rest


def _last_break(text: str) -> str:
    return next((eol for eol in ("\r\n", "\n") if text.endswith(eol)), "")


def _eol(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _dump_path(path: Path) -> str:
    return ".".join(map(_dump_key, path))


def _dump_key(key: str) -> str:
    return key if key.replace("_", "a").replace("-", "a").isalnum() and key.isascii() else _dump(key)


def _dump(value: Any) -> str:
    """Return a value as TOML on one line."""
    match value:
        case list() | tuple():
            return f"[{', '.join(map(_dump, value))}]"
        case dict():
            return f"{{ {', '.join(f'{_dump_key(key)} = {_dump(each)}' for key, each in value.items())} }}"
        case _:  # a JSON string is a TOML string, but for one character
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
