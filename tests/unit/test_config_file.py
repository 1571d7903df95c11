"""Configuration: flag over environment over file over default, and a bad file that stops nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from siftd.config import KEYS, check, is_excluded, parse_file, parse_flags
from siftd.errors import ConfigInvalid
from siftd.workspace.home import ensure_folder, load_settings
from siftd.workspace.paths import Home

TICK = "memory.consolidator.tickMs"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(str(tmp_path / "home"))
    ensure_folder(made.folder)
    return made


def write(home: Home, text: str) -> None:
    Path(home.config).write_text(text, encoding="utf-8")


def test_without_a_file_every_key_has_its_default(home: Home) -> None:
    loaded = load_settings(home)
    assert loaded.settings.by_key() == {key.name: key.default for key in KEYS}
    assert loaded.problem is None


def test_a_flag_beats_the_file_beats_the_default_and_the_environment_sets_nothing(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIFTD_MEMORY_CONSOLIDATOR_TICK_MS", "2000")
    assert load_settings(home).settings.memory_consolidator_tick_ms == 30_000
    write(home, json.dumps({TICK: 1000}))
    assert load_settings(home).settings.memory_consolidator_tick_ms == 1000
    assert load_settings(home, [f"{TICK}=3000"]).settings.memory_consolidator_tick_ms == 3000


def test_a_file_may_nest_or_dot_its_keys() -> None:
    nested = '{"memory": {"consolidator": {"tickMs": 500}, "backend": "extractive"}}'
    dotted = '{"memory.consolidator.tickMs": 500, "memory.backend": "extractive"}'
    assert parse_file(nested) == parse_file(dotted) == {TICK: 500, "memory.backend": "extractive"}
    assert parse_file(" \n") == {}


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_every_key_can_be_set_by_file_and_flag(key: object) -> None:
    name, default = key.name, key.default  # type: ignore[attr-defined]
    text = default if isinstance(default, str) else json.dumps(default)
    assert parse_file(json.dumps({name: default})) == {name: default}
    assert parse_flags([f"{name}={text}"]) == {name: default}


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("memory.bakend", "memory.backend"), ("idleExitMs", "daemon.idleExitMs"), ("capture.ignored", "capture.ignore")],
)
def test_an_unknown_key_names_the_nearest_one(wrong: str, near: str) -> None:
    with pytest.raises(ConfigInvalid) as by_file:
        parse_file(json.dumps({wrong: 1}))
    with pytest.raises(ConfigInvalid) as by_flag:
        parse_flags([f"{wrong}=1"])
    for error in (by_file.value, by_flag.value):
        assert wrong in error.message
        assert near in error.hint


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (TICK, "often"),
        (TICK, True),
        (TICK, 1.5),
        (TICK, None),
        (TICK, 1),
        ("memory.backend", 1),
        ("redact.emails", 1),
        ("capture.ignore", "Read"),
        ("capture.ignore", [1]),
        ("log.keepDays", 0),
        ("memory.consolidator.supersedeCosine", 1.5),
    ],
)
def test_a_value_of_the_wrong_kind_or_size_is_refused_by_its_keys_name(name: str, value: object) -> None:
    with pytest.raises(ConfigInvalid, match=name):
        check(name, value)


def test_days_may_be_null_for_ever() -> None:
    assert parse_file('{"store.keepDays": null}') == {"store.keepDays": None}


def test_lists_in_flags_may_be_json_or_commas() -> None:
    assert parse_flags(["capture.ignore=Read,*.lock"]) == {"capture.ignore": ["Read", "*.lock"]}
    assert parse_flags(['capture.ignore=["Read"]']) == {"capture.ignore": ["Read"]}


def test_a_flag_without_a_value_is_refused() -> None:
    with pytest.raises(ConfigInvalid, match="KEY=VALUE"):
        parse_flags(["memory.backend"])


@pytest.mark.parametrize(
    "bad",
    [
        '{"memory.backend": ',
        '["memory"]',
        '{"memory.bakend": "x"}',
        '{"memory": {"backend": 3}}',
        "\x00",
        "[" * 100_000,
    ],
    ids=["half", "no object", "unknown key", "wrong kind", "NUL", "deep"],
)
def test_a_bad_file_stops_nothing_the_last_good_one_holds(home: Home, bad: str) -> None:
    write(home, json.dumps({TICK: 1234}))
    assert load_settings(home).problem is None
    write(home, bad)
    loaded = load_settings(home, ["log.keepDays=7"])
    assert (loaded.settings.memory_consolidator_tick_ms, loaded.settings.log_keep_days) == (1234, 7)
    assert loaded.problem is not None
    assert home.config in loaded.problem
    assert "last good" in loaded.problem


def test_a_bad_file_without_a_good_one_before_it_gives_the_defaults(home: Home) -> None:
    Path(home.config).write_bytes(b"\xff\xfe")
    loaded = load_settings(home)
    assert loaded.settings.by_key() == {key.name: key.default for key in KEYS}
    assert loaded.problem is not None


def test_a_wrong_flag_is_an_error_of_its_own(home: Home) -> None:
    with pytest.raises(ConfigInvalid):
        load_settings(home, [f"{TICK}=often"])


def test_the_kept_good_file_is_private(home: Home) -> None:
    write(home, "{}")
    load_settings(home)
    assert Path(home.good_config).stat().st_mode & 0o777 == 0o600


def test_an_excluded_folder_excludes_what_is_below_it_and_no_namesake(home: Home) -> None:
    write(home, json.dumps({"capture.exclude": ["/src/private/"]}))
    settings = load_settings(home).settings
    excluded = [
        root for root in ("/src/private", "/src/private/a", "/src/private-not", "/src") if is_excluded(root, settings)
    ]
    assert excluded == ["/src/private", "/src/private/a"]
