"""What a settings file looks like after our entries went in, and which files are refused."""

from __future__ import annotations

import json

import pytest

from siftd.clients.claude_code.settings import EVENTS, is_ours
from siftd.clients.claude_code.settings_edit import add_hooks, list_handlers, remove_hooks
from siftd.errors import SettingsUnreadable
from siftd.install.json_spans import NotJson, scan

COMMAND = "exec /bin/python -I -S /src/hooks/hook.py; exit 0"
HANDLER = {"type": "command", "command": COMMAND, "timeout": 5}
STOP = {"Stop": HANDLER}
OTHER = {"type": "command", "command": "say done"}


def test_what_is_inserted_follows_the_indentation_and_line_ends_of_the_file() -> None:
    text = '{\r\n\t"model": "opus",\r\n\t"hooks": {\r\n\t\t"Notification": []\r\n\t}\r\n}\r\n'

    added = add_hooks(text, STOP, is_ours)

    assert added == (
        '{\r\n\t"model": "opus",\r\n\t"hooks": {\r\n\t\t"Notification": [],\r\n\t\t"Stop": [\r\n\t\t\t{\r\n'
        '\t\t\t\t"hooks": [\r\n\t\t\t\t\t{\r\n\t\t\t\t\t\t"type": "command",\r\n'
        f'\t\t\t\t\t\t"command": "{COMMAND}",\r\n\t\t\t\t\t\t"timeout": 5\r\n\t\t\t\t\t}}\r\n\t\t\t\t]\r\n\t\t\t}}\r\n'
        "\t\t]\r\n\t}\r\n}\r\n"
    )


def test_an_empty_object_becomes_what_a_person_would_write() -> None:
    assert add_hooks("{}\n", STOP, is_ours) == json.dumps({"hooks": {"Stop": [{"hooks": [HANDLER]}]}}, indent=2) + "\n"


def test_a_file_on_one_line_stays_on_one_line() -> None:
    added = add_hooks('{"model": "opus", "env": {}}', STOP, is_ours)

    assert "\n" not in added
    assert added.startswith('{"model": "opus", "env": {}, "hooks": { "Stop": [ { "hooks": [')


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{ }",
        "{\n}",
        "\ufeff{}\r\n",
        '{"hooks":{}}',
        '{\n  "hooks": {}\n}',
        '{"hooks":{"Stop":[]}}',
        '{\n    "hooks": {\n        "Stop": [ ]\n    }\n}',
        '{"hooks": {"Stop": [{"matcher": "", "hooks": []}]}}',
        '{\r"hooks": {\r}}\n',
        '{"h\\u006foks": {"St\\u006fp": []}, "é": "\\ud83d", "n": ' + "9" * 5000 + "}",
    ],
)
def test_containers_that_were_empty_before_us_are_empty_after_us(text: str) -> None:
    added = add_hooks(text, dict.fromkeys(EVENTS, HANDLER), is_ours)

    assert [event for event, handler in list_handlers(added) if is_ours(handler)].count("Stop") == 1
    assert remove_hooks(added, is_ours) == text


def test_only_ours_is_taken_from_a_group_that_a_person_shares_with_it() -> None:
    shared = json.dumps({"hooks": {"Stop": [{"hooks": [OTHER, HANDLER]}, {"hooks": [HANDLER]}]}}, indent=2)

    assert json.loads(remove_hooks(shared, is_ours)) == {"hooks": {"Stop": [{"hooks": [OTHER]}]}}


def test_an_outdated_entry_keeps_its_place_its_matcher_and_its_other_keys() -> None:
    old = COMMAND.replace("/src/", "/old/")
    text = json.dumps({"hooks": {"Stop": [{"matcher": "x", "hooks": [{"command": old, "timeout": 9}, OTHER]}]}})

    assert add_hooks(text, STOP, is_ours) == text.replace(old, COMMAND)


def test_doubled_entries_and_entries_of_other_events_are_taken_out() -> None:
    ours = [{"hooks": [HANDLER]}]
    text = json.dumps({"hooks": {"PreToolUse": ours, "Stop": [*ours, {"hooks": [OTHER]}, *ours]}}, indent=2)

    added = json.loads(add_hooks(text, STOP, is_ours))

    assert added == {"hooks": {"Stop": [*ours, {"hooks": [OTHER]}]}}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        '{"a": 1,}',
        '{"a": 1} // note',
        "{'a': 1}",
        '{"a": 01}',
        '{"a": NaN}',
        '{"a": "\t"}',
        '{"a": "\\x"}',
        '{"a": 1',
        '{"a" 1}',
        '{"a": 1}{}',
        "[" * 5000,
        '{"hooks": []}',
        '{"hooks": null}',
        '{"hooks": {"Stop": {}}}',
        '{"hooks": {"Stop": ["x"]}}',
        '{"hooks": {"Stop": [{}]}}',
        '{"hooks": {"Stop": [{"hooks": {}}]}}',
        '{"hooks": {"Stop": [{"hooks": ["x"]}]}}',
        '{"hooks": {}, "hooks": {}}',
        '{"hooks": {"Stop": [], "Stop": []}}',
    ],
)
def test_a_file_that_does_not_parse_or_has_another_shape_is_refused(text: str) -> None:
    with pytest.raises(SettingsUnreadable) as adding:
        add_hooks(text, STOP, is_ours)
    with pytest.raises(SettingsUnreadable):
        remove_hooks(text, is_ours)
    assert adding.value.hint


def test_a_refusal_names_the_line_and_quotes_nothing() -> None:
    with pytest.raises(SettingsUnreadable, match="line 3") as refused:
        add_hooks('{\n  "token": "sk-secret",\n  oops\n}', STOP, is_ours)

    assert "sk-secret" not in str(refused.value)


@pytest.mark.parametrize("text", ['{"a": [1, -2.5e3, "x\\n", {"b": null}], "c": true}', "3", '"x"', "[]"])
def test_every_prefix_of_a_document_is_refused_and_every_span_reads_as_its_value(text: str) -> None:
    root = scan(text)

    assert root.value == json.loads(text)
    for child in root.children:
        assert json.loads(text[child.node.start : child.node.end]) == child.node.value
    for end in range(len(text)):
        with pytest.raises(NotJson):
            scan(text[:end])
