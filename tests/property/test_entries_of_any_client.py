"""Entries of ours in any JSON with comments, and in any TOML: put in and taken out, every byte is as it was."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from siftd.install.edits import JsonFile, TomlFile, take_out
from siftd.install.json_entries import scan_entries
from siftd.install.launcher import format_entry

COMMAND = format_entry("/home/a b/.siftd/default/hook.sh", "codex")
SERVER = {"command": "/env/bin/python", "args": ["-I", "/env/siftd/__main__.py", "mcp"]}
HANDLER = {"type": "command", "command": COMMAND, "timeout": 3}
JSON_FILES = [
    JsonFile("f", hooks={"Stop": {"matcher": "*", "hooks": [HANDLER]}, "PostToolUse": {"hooks": [HANDLER]}}),
    JsonFile("f", hooks={"Stop": HANDLER, "agentStop": HANDLER}),
    JsonFile("f", members={("mcpServers", "siftd"): SERVER}),
    JsonFile("f", hooks={"Stop": {"hooks": [HANDLER]}}, members={("mcp", "siftd"): {"transport": SERVER}}),
]
TOML_FILES = [
    TomlFile("f", tables={("mcp_servers", "siftd"): SERVER}),
    TomlFile("f", rows={("hooks",): [{"event": "Stop", "command": COMMAND, "timeout": 3}]}),
    TomlFile("f", tables={("mcp_servers", "siftd"): SERVER}, rows={("hooks",): [{"event": "A", "command": COMMAND}]}),
]

words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=6)
comments = st.builds(lambda text: f"// {text}\n", words) | st.builds(
    lambda text: f"/* {text.replace('*/', '')} */", words.filter(lambda text: not text.endswith("*"))
)
gaps = st.lists(st.sampled_from(["", " ", "\n", "\r\n", "\n\t"]) | comments, max_size=3).map("".join)
plain = st.none() | st.booleans() | st.integers(-9, 9) | words
values = st.recursive(plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3))
theirs = st.lists(st.fixed_dictionaries({"hooks": st.lists(st.fixed_dictionaries({"command": words}), max_size=2)}))
documents = st.fixed_dictionaries(
    {"theirs": values},
    optional={
        "hooks": st.dictionaries(st.sampled_from(["Stop", "Other"]), theirs, max_size=2),
        "mcpServers": st.dictionaries(
            words.filter(lambda name: name != "siftd"), st.just({"command": "x"}), max_size=2
        ),
    },
)


@st.composite
def json_texts(draw: st.DrawFn) -> str:
    def spaced(value: Any) -> str:
        comma = draw(st.sampled_from(["", "", ","]))
        match value:
            case dict() if value:
                parts = [
                    f"{draw(gaps)}{json.dumps(key)}{draw(gaps)}:{draw(gaps)}{spaced(each)}{draw(gaps)}"
                    for key, each in value.items()
                ]
                return "{" + ",".join(parts) + comma + draw(gaps) + "}"
            case list() if value:
                parts = [f"{draw(gaps)}{spaced(each)}{draw(gaps)}" for each in value]
                return "[" + ",".join(parts) + comma + draw(gaps) + "]"
            case dict() | list():
                return "{}" if isinstance(value, dict) else "[]"
            case _:
                return json.dumps(value)

    return draw(gaps) + spaced(draw(documents)) + draw(gaps)


@settings(max_examples=80)
@given(json_texts(), st.sampled_from(JSON_FILES))
def test_json_with_comments_comes_back_byte_for_byte(text: str, edit: JsonFile) -> None:
    put = edit.put(text.encode())

    assert take_out("json", put)[0] == text.encode()
    assert edit.put(put) == put
    # What both mean: ours is there besides, and nothing else has changed.
    ours = scan_entries(put.decode()).value
    assert ours["theirs"] == scan_entries(text).value["theirs"]
    for path, value in edit.members.items():
        found = ours
        for key in path:
            found = found[key]
        assert found == value


lines = st.sampled_from(
    [
        "",
        "# a comment",
        'a{n} = "x" # [not.a.table]',
        "b{n} = [\n  1, # ]\n  2,\n]",
        'c{n} = """\n[mcp_servers.siftd]\n"""',
        "d{n} = '''it''s'''",
        "[t{n}]",
        "[mcp_servers.other{n}]",
        "[[hooks]]",
        "[[rows]]",
        'e{n} = {{ x = 1, y = ["[", "]"] }}',
        '"quoted key {n}" = 1979-05-27T07:32:00Z',
    ]
)


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    eol = draw(st.sampled_from(["\n", "\r\n"]))
    parts = [line.format(n=number).replace("\n", eol) for number, line in enumerate(draw(st.lists(lines, max_size=8)))]
    return eol.join(parts) + draw(st.sampled_from(["", eol]))


@settings(max_examples=120)
@given(toml_texts(), st.sampled_from(TOML_FILES), st.sampled_from(["", "# theirs\n", "# theirs\n[theirs]\nx = 1\n"]))
def test_toml_comes_back_byte_for_byte_with_what_others_wrote_behind(text: str, edit: TomlFile, behind: str) -> None:
    put = edit.put(text.encode())
    assert edit.put(put) == put
    meant = tomllib.loads(put.decode())
    for path, value in edit.tables.items():
        assert meant[path[0]][path[1]] == value
    assert all(row in meant["hooks"] for rows in edit.rows.values() for row in rows)

    assert take_out("toml", put)[0] == text.encode()
    left = take_out("toml", put + behind.encode())[0]
    ended = text if not text or text.endswith("\n") or not behind else text + ("\r\n" if "\r\n" in text else "\n")
    assert left == ended.encode() + behind.encode()
