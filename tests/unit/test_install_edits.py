"""Entries of ours in files of any client: put in, brought up to date, taken out, every other byte as it was."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from siftd.errors import SettingsUnreadable
from siftd.install.edits import OWN_MARK, Edit, JsonFile, MarkedBlock, OwnFile, TomlFile, take_out
from siftd.install.json_entries import scan_entries
from siftd.install.launcher import format_entry

COMMAND = format_entry("/home/a/.siftd/default/hook.sh", "codex")
OLDER = format_entry("/home/it's/.siftd/other/hook.sh", "codex")
SERVER = {"command": "/env/bin/python", "args": ["-I", "/env/siftd/__main__.py", "mcp"]}
MOVED = {**SERVER, "command": "/new/bin/python"}


def group(command: str = COMMAND) -> dict[str, Any]:
    return {"matcher": "*", "hooks": [{"type": "command", "command": command, "timeout": 5}]}


def handler(command: str = COMMAND) -> dict[str, Any]:
    return {"type": "command", "bash": command, "powershell": "", "timeoutSec": 5}


GROUPS = JsonFile("f", hooks={"Stop": group(), "PostToolUse": group()})
FLAT = JsonFile("f", hooks={"agentStop": handler(), "postToolUse": handler()}, base={"version": 1})
AT_THE_TOP = JsonFile("f", hooks={"Stop": group()}, under=())
UNDER_A_NAME = JsonFile("f", hooks={"PostToolUse": group(), "Stop": handler()}, under=("siftd",))
NAMED = JsonFile("f", members={("siftd",): {"PostToolUse": [group()], "Stop": [handler()]}})
MCP = JsonFile("f", members={("mcpServers", "siftd"): SERVER}, holds_keys=True)
NESTED = JsonFile("f", members={("mcpServers", "siftd"): {"transport": {"type": "stdio", **SERVER}}})
IN_ONE = JsonFile(
    "f", members={("mcp", "siftd"): {"type": "local", "command": [SERVER["command"], *SERVER["args"]], "enabled": True}}
)
BOTH = JsonFile("f", hooks={"AfterTool": group()}, members={("mcpServers", "siftd"): SERVER}, holds_keys=True)
JSON_EDITS = [GROUPS, FLAT, AT_THE_TOP, UNDER_A_NAME, NAMED, MCP, NESTED, IN_ONE, BOTH]

TABLE = TomlFile("f", tables={("mcp_servers", "siftd"): SERVER})
ROWS = TomlFile(
    "f",
    rows={("hooks",): [{"event": event, "command": COMMAND, "timeout": 10} for event in ("Stop", "PostToolUse")]},
)
BOTH_TOML = TomlFile("f", tables=TABLE.tables, rows=ROWS.rows)

JSON_TEXTS = [
    "{}",
    "{ }\n",
    '{"a": 1}',
    '\ufeff{\r\n\t"a": [1, 2],\r\n\t"b": {}\r\n}\r\n',
    '{\n  // what I like\n  "theme": "dark", // not light\n  /* keys */ "list": [1, 2,],\n}\n',
    "{\n  // nothing yet\n}\n",
    '{"mcpServers": {"other": {"command": "x"}}, "hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}}',
    '{\n  "hooks": {\n    "Stop": [\n      // mine\n      {"hooks": [{"type": "command"}]}, // done\n    ],\n  },\n}',
    '{"mcpServers": {}, "mcp": {"other": {}}, "hooks": {"postToolUse": []}}',
]
TOML_TEXTS = [
    "a = 1\n",
    "a = 1",
    "# only a comment",
    "\n\n",
    'a = 1\r\n[mcp_servers.other]\r\ncommand = "x"\r\n\r\n# about p\r\n[p]\r\ny = 1',
    "[mcp_servers]\n[mcp_servers.foo]\nb = 1\n[z]\n[mcp_servers.bar]\nb = 1\n",
    'x = """\n[mcp_servers.siftd]\n[[hooks]]\n"""\ny = [\n  "[z]", # ]\n  \'\'\'q\'\'\',\n]\n',
    '[[hooks]]\nevent = "Stop"\ncommand = "mine"\n\n[c]\nd = 1 # end\n',
    '[projects."/home/a/p q"]\ntrust_level = "trusted"\n',
]


def undone(edit: Edit, data: bytes) -> bytes:
    return take_out(edit.kind, data)[0]


@pytest.mark.parametrize("edit", JSON_EDITS)
@pytest.mark.parametrize("text", JSON_TEXTS)
def test_json_with_or_without_comments_comes_back_byte_for_byte(edit: JsonFile, text: str) -> None:
    put = edit.put(text.encode())

    assert undone(edit, put) == text.encode()
    assert edit.put(put) == put
    value = scan_entries(put.decode()).value
    assert COMMAND in str(value) or SERVER["command"] in str(value)


@pytest.mark.parametrize("edit", [TABLE, ROWS, BOTH_TOML])
@pytest.mark.parametrize("text", TOML_TEXTS)
def test_toml_comes_back_byte_for_byte(edit: TomlFile, text: str) -> None:
    put = edit.put(text.encode())

    assert undone(edit, put) == text.encode()
    assert edit.put(put) == put
    value = tomllib.loads(put.decode())
    assert value.get("mcp_servers", {}).get("siftd") == (SERVER if edit.tables else None)
    assert [row for row in value.get("hooks", []) if row["command"] == COMMAND] == [*edit.rows.get(("hooks",), ())]


def test_what_a_person_wrote_behind_our_table_stays() -> None:
    put = TABLE.put(b"a = 1\n") + b"# about mine\n[mine]\nz = 1\n"

    assert undone(TABLE, put) == b"a = 1\n# about mine\n[mine]\nz = 1\n"


def test_tables_that_the_client_put_below_ours_go_with_it() -> None:
    put = TABLE.put(b"a = 1\n") + b'\n[mcp_servers.siftd.tools.search]\napproval_mode = "approve"\n'

    assert undone(TABLE, put) == b"a = 1\n"


def test_a_moved_siftd_changes_only_commands_and_keeps_what_others_set() -> None:
    toml = TABLE.put(b"") + b"enabled = false\n"
    moved = TomlFile("f", tables={("mcp_servers", "siftd"): MOVED}).put(toml)
    assert tomllib.loads(moved.decode())["mcp_servers"]["siftd"] == {**MOVED, "enabled": False}

    text = JsonFile("f", hooks={"Stop": group(OLDER)}).put(b"{}").replace(b'"timeout": 5', b'"timeout": 9')
    assert json.loads(GROUPS.put(text))["hooks"]["Stop"] == [
        {"matcher": "*", "hooks": [{**group()["hooks"][0], "timeout": 9}]}
    ]

    rows = TomlFile("f", rows={("hooks",): [{"event": "Stop", "command": OLDER, "timeout": 9}]}).put(b"")
    assert tomllib.loads(ROWS.put(rows).decode())["hooks"] == [
        {"event": "Stop", "command": COMMAND, "timeout": 9},
        {"event": "PostToolUse", "command": COMMAND, "timeout": 10},
    ]


def test_entries_doubled_or_under_events_that_are_not_asked_for_go() -> None:
    text = json.dumps({"hooks": {"Stop": [group(), group(OLDER)], "PreToolUse": [group()]}}, indent=2)
    assert json.loads(GROUPS.put(text.encode())) == {"hooks": {"Stop": [group()], "PostToolUse": [group()]}}

    rows = "".join(f'[[hooks]]\nevent = "{event}"\ncommand = "{COMMAND}"\n' for event in ("Stop", "Stop", "PreToolUse"))
    found = tomllib.loads(ROWS.put(rows.encode()).decode())["hooks"]
    assert [row["event"] for row in found] == ["Stop", "PostToolUse"]


def test_a_handler_of_somebody_else_beside_ours_stays() -> None:
    mine = {"type": "command", "command": "mine"}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [mine, *group()["hooks"]]}]}})

    assert json.loads(undone(GROUPS, text.encode())) == {"hooks": {"Stop": [{"hooks": [mine]}]}}


def test_comments_that_a_person_put_around_our_entry_stay_and_what_is_left_parses() -> None:
    text = """{
  "mcpServers": {
    "siftd": {"command": "/x/siftd", "args": ["mcp"]}, // the memory
    "a": {"command": "x"}, // mine
    /* and */ "b": {"command": "y"}
  }
}
"""
    left = undone(MCP, text.encode()).decode()
    assert [note for note in ("// the memory", "// mine", "/* and */") if note not in left] == []
    assert scan_entries(left).value == {"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}

    last = """{
  "mcpServers": {
    "a": {"command": "x"}, // mine
    "siftd": {"command": "/x/siftd", "args": ["mcp"]} // the memory
  }
}
"""
    left = undone(MCP, last.encode()).decode()
    assert "// mine" in left
    assert "// the memory" in left
    assert scan_entries(left).value == {"mcpServers": {"a": {"command": "x"}}}

    only = '{\n  "mcpServers": { // all\n    "siftd": {"command": "/x/siftd", "args": ["mcp"]}\n  }\n}\n'
    left = undone(MCP, only.encode()).decode()
    assert "// all" in left
    assert scan_entries(left).value == {"mcpServers": {}}


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (GROUPS, "{"),
        (GROUPS, "[]"),
        (GROUPS, '{"hooks": []}'),
        (GROUPS, '{"hooks": {"Stop": {}}}'),
        (GROUPS, '{"hooks": {}, "hooks": {}}'),
        (MCP, '{"mcpServers": []}'),
        (MCP, '{"mcpServers": {"siftd": {"command": "something-else"}}}'),
        (TABLE, "a = = 1"),
        (TABLE, "mcp_servers = { other = { command = 'x' } }\n"),
        (TABLE, "mcp_servers = 1\n"),
        (TABLE, "[mcp_servers.siftd]\ncommand = 'something-else'\n"),
        (TABLE, "mcp_servers.siftd = { command = '/x/siftd', args = ['mcp'] }\n"),
        (ROWS, "hooks = []\n"),
        (ROWS, "[hooks]\na = 1\n"),
    ],
)
def test_a_file_that_cannot_be_edited_is_refused(edit: Edit, text: str) -> None:
    with pytest.raises(SettingsUnreadable):
        edit.put(text.encode())


def test_bytes_that_are_no_utf_8_are_refused() -> None:
    for edit in (GROUPS, TABLE, MarkedBlock("f", "x")):
        with pytest.raises(SettingsUnreadable):
            edit.put(b"\xff")


def test_a_file_of_our_own_is_replaced_and_one_that_somebody_made_theirs_is_refused_and_kept() -> None:
    edit = OwnFile("f", f"// {OWN_MARK}\nnew\n")

    assert edit.put(f"// {OWN_MARK}\nold\n".encode()) == edit.put(None)
    assert take_out("own", edit.put(None)) == (edit.put(None), True)
    assert take_out("own", b"theirs\n") == (b"theirs\n", False)
    with pytest.raises(SettingsUnreadable):
        edit.put(b"theirs\n")


@pytest.mark.parametrize("text", ["", "# Rules\n", "# Rules", "a\r\nb\r\n", "\n"])
def test_a_block_in_a_file_of_rules_comes_and_goes(text: str) -> None:
    edit = MarkedBlock("f", "Search the memory.\nThen work.")
    put = edit.put(text.encode())

    assert b"Search the memory." in put
    assert edit.put(put) == put
    assert MarkedBlock("f", "Other words.").put(put) == MarkedBlock("f", "Other words.").put(text.encode())
    assert undone(edit, put) == text.encode()
    assert undone(edit, put + b"more\n") == (
        text.encode() + b"more\n" if text[-1:] in ("\n", "") else b"# Rules\nmore\n"
    )
