"""Adding our hooks or our server to any settings file and taking them out again gives back every byte."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from siftd.clients.claude_code.guard import add_guard, has_guard, is_guard
from siftd.clients.claude_code.servers_edit import add_server, has_servers, remove_servers
from siftd.clients.claude_code.settings import EVENTS, Wiring, hooks_for, is_ours
from siftd.clients.claude_code.settings_edit import add_hooks, list_handlers, remove_hooks

WIRING = Wiring("/opt/env/bin/python", "/src/siftd/hooks/hook.py", "/opt/env/bin/mem")
HOOKS = hooks_for(WIRING)
MOVED = hooks_for(Wiring("/new/bin/python", "/new place/it's/hooks/hook.py", "/new/bin/mem"))

spaces = st.text(alphabet=" \t\n\r", max_size=4) | st.sampled_from(["", "", "\n", "\r\n", "\n  ", "\r\n\t"])
plain = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=6)
)
values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner), max_leaves=6
)
keys = st.text(st.characters(codec="utf-8"), max_size=5).filter(lambda key: key != "hooks")
foreign_handlers = st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=8)})
groups = st.fixed_dictionaries(
    {"hooks": st.lists(foreign_handlers, max_size=2)}, optional={"matcher": st.text(max_size=3)}
)
hook_sections = st.dictionaries(
    st.sampled_from([*EVENTS[:4], "Notification"]), st.lists(groups, max_size=2), max_size=3
)
documents = st.builds(
    lambda rest, hooks, first: {**hooks, **rest} if first else {**rest, **hooks},
    st.dictionaries(keys, values, max_size=3),
    st.just({}) | st.builds(lambda section: {"hooks": section}, hook_sections),
    st.booleans(),
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A settings file as a person, a program or a cat on the keyboard would space it."""
    document = draw(documents)
    style = draw(st.sampled_from(["wild", "dumped"]))
    if style == "wild":
        body = _spaced(draw, document)
    else:
        body = json.dumps(document, indent=draw(st.sampled_from([None, 2, 4, "\t"])), ensure_ascii=draw(st.booleans()))
        body = body.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "\ufeff"])) + draw(spaces) + body + draw(spaces)


def _spaced(draw: st.DrawFn, value: Any) -> str:
    def gap() -> str:
        return draw(spaces)

    match value:
        case dict():
            parts = [
                f"{gap()}{json.dumps(key)}{gap()}:{gap()}{_spaced(draw, item)}{gap()}" for key, item in value.items()
            ]
            return "{" + (",".join(parts) or gap()) + "}"
        case list():
            return "[" + (",".join(f"{gap()}{_spaced(draw, item)}{gap()}" for item in value) or gap()) + "]"
        case _:
            return json.dumps(value, ensure_ascii=draw(st.booleans()))


def parse(text: str) -> Any:
    return json.loads(text.removeprefix("\ufeff"))


@settings(max_examples=60)
@given(texts())
def test_adding_and_removing_gives_back_the_original_bytes(text: str) -> None:
    added = add_hooks(text, HOOKS, is_ours)

    assert sorted(event for event, handler in list_handlers(added) if is_ours(handler)) == sorted(EVENTS)
    assert remove_hooks(added, is_ours) == text


@settings(max_examples=40)
@given(texts())
def test_the_guard_beside_the_hooks_or_alone_gives_back_the_original_bytes(text: str) -> None:
    alone = add_guard(text, WIRING)
    beside = add_guard(add_hooks(text, HOOKS, is_ours), WIRING)

    for added in (alone, beside):
        assert has_guard(added)
        assert add_guard(added, WIRING) == added
        assert remove_hooks(added, lambda handler: is_ours(handler) or is_guard(handler)) == text


@settings(max_examples=25)
@given(texts())
def test_adding_twice_is_adding_once_and_a_moved_checkout_is_repaired_in_place(text: str) -> None:
    added = add_hooks(text, HOOKS, is_ours)
    moved = add_hooks(added, MOVED, is_ours)

    assert add_hooks(added, HOOKS, is_ours) == added
    assert moved == added.replace(json.dumps(HOOKS["Stop"]["command"]), json.dumps(MOVED["Stop"]["command"]))
    assert remove_hooks(moved, is_ours) == text


@settings(max_examples=25)
@given(texts())
def test_everything_else_in_the_document_means_the_same(text: str) -> None:
    before, after = parse(text), parse(add_hooks(text, HOOKS, is_ours))

    for event in EVENTS:
        assert is_ours(after["hooks"][event].pop()["hooks"][0])
        if not after["hooks"][event] and event not in before.get("hooks", {}):
            del after["hooks"][event]
    if not after["hooks"] and "hooks" not in before:
        del after["hooks"]
    assert after == before
    assert list(after) == list(before)


@settings(max_examples=25)
@given(texts(), st.sampled_from([2, 4, "\t"]))
def test_from_a_file_dumped_anew_by_a_program_exactly_ours_is_taken(text: str, indent: int | str) -> None:
    dumped = json.dumps(parse(add_hooks(text, HOOKS, is_ours)), indent=indent)
    left, expected = parse(remove_hooks(dumped, is_ours)), parse(text)

    def without_empty(document: dict[str, Any]) -> dict[str, Any]:
        section = {event: groups for event, groups in document.get("hooks", {}).items() if groups}
        rest = {key: value for key, value in document.items() if key != "hooks"}
        return {**rest, "hooks": section} if section else rest

    assert without_empty(left) == without_empty(expected)


SERVER = {"command": "/opt/env/bin/python", "args": ["-I", "/opt/siftd/__main__.py", "mcp"]}
held_servers = st.dictionaries(st.sampled_from(["a", "b"]), st.fixed_dictionaries({"command": st.text(max_size=3)}))
client_files = st.fixed_dictionaries(
    {},
    optional={
        "numStartups": st.integers(),
        "mcpServers": held_servers,
        "projects": st.dictionaries(
            st.sampled_from(["/p", "/q"]), st.fixed_dictionaries({}, optional={"mcpServers": held_servers, "x": plain})
        ),
    },
)


@settings(max_examples=60)
@given(st.data(), client_files, st.sampled_from([None, "/p"]))
def test_a_server_added_and_removed_gives_back_the_original_bytes(
    data: st.DataObject, document: dict[str, Any], scope: str | None
) -> None:
    indent = data.draw(st.sampled_from([None, 2, "\t"]))
    text = data.draw(st.just(json.dumps(document, indent=indent)) | st.builds(lambda: _spaced(data.draw, document)))

    added = add_server(text, scope, SERVER)
    twice = add_server(add_server(added, None, SERVER), "/p", SERVER)

    assert has_servers(added)
    assert not has_servers(text)
    assert add_server(added, scope, SERVER) == added
    assert remove_servers(added, [scope]) == text
    assert parse(remove_servers(twice)) == document
