"""What is asked of nothing, or wrongly, is answered in plain words, with the status that the documents name."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from daemons import Place

from siftd.cli import DONE, FAILED, MISUSED, run

pytestmark = pytest.mark.slow

Mem = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """One for all: they ask of what is not there, each of something else."""
    made = Place()
    made.start()
    yield made
    made.end()


@pytest.fixture
def mem(place: Place, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Mem:
    """Return status and everything that was said."""
    for name, value in place.env.items():
        monkeypatch.setenv(name, value)
    for name in ("SIFTD_NS", "SIFTD_WORKSPACE", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(place.folder)

    def call(*arguments: str) -> tuple[int, str]:
        status = run(arguments)
        told = capfdbinary.readouterr()
        return status, told.out.decode() + told.err.decode()

    return call


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("show x9", MISUSED, "ids look like e12"),
        ("timeline zzz", MISUSED, "ids look like e12"),
        ("timeline --session nope", MISUSED, "`mem sessions` lists them"),
        ("undo e1", MISUSED, "give one like s12"),
        ("update", MISUSED, "required: ID"),
        ("update m1", MISUSED, "mem: "),
        ("redact /nonexistent", MISUSED, "cannot be read"),
        ("exclude /nonexistent", MISUSED, "there is no such folder"),
        ("pause --session nope", MISUSED, "no session has an id that begins so"),
        ("conversations nope", MISUSED, "ask without an id for a list of them"),
        ("forget m999 --yes", FAILED, "nothing would be forgotten"),
        ("why e999", FAILED, "`mem injections` lists what was"),
        ("retry e999", FAILED, "0 events"),
        ("memories --conflicts", DONE, "no two contradict"),
        ("drain", DONE, "0 still raw"),
    ],
)
def test_what_is_asked_of_nothing_is_answered_in_words(
    place: Place, mem: Mem, words: str, status: int, said: str
) -> None:
    found, told = mem(*words.split())
    assert said in told
    assert found == status
    assert "conversation_threads" not in told


def test_of_backends_that_do_not_exist_none_is_guessed_that_sends_words_away(place: Place, mem: Mem) -> None:
    _, told = mem("drain", "--backend", "nope")
    assert "did you mean" not in told
    assert "extractive" in told
    assert "did you mean ollama?" in mem("drain", "--backend", "olama")[1]


def test_a_backfill_that_finds_nothing_of_this_folder_says_what_to_do(place: Place, mem: Mem, tmp_path: Path) -> None:
    record = {"type": "user", "sessionId": "a", "cwd": "/else/where", "uuid": "u", "version": "2.1.0"}
    record |= {"timestamp": "2026-02-10T10:00:00.000Z", "message": {"role": "user", "content": "Why does it fail?"}}
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(record) + "\n")
    status, told = mem("backfill", str(file))
    assert status == DONE
    assert "none of it is this workspace's: --any-workspace takes all" in told
    told = mem("backfill", "--any-workspace", str(file))[1]
    assert "1 session of 2026-02-10: 1 scanned, 1 captured" in told
    assert "1 file written in the last minutes: how the last turn ends is read next time" in told


def test_what_a_backfill_could_not_read_is_told_in_words(place: Place, mem: Mem, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    record = {"type": "user", "sessionId": "a", "cwd": str(place.folder), "uuid": "u", "version": "2.1.0"}
    record |= {"timestamp": "2026-02-10T10:00:00.000Z", "message": {"role": "user", "content": "Why does it fail?"}}
    file.write_text(json.dumps(record) + "\n{broken\n" + json.dumps(record | {"uuid": "v"}) + "\n")
    told = mem("backfill", str(file))[1]
    assert "a line is not JSON" in told
    assert "malformed_line" not in told


def test_a_session_that_is_paused_is_listed_by_info_and_doctor_with_the_way_back(place: Place, mem: Mem) -> None:
    for session in ("d614c3b5-aaaa", "77aa0000-bbbb"):
        place.ask("capture", sessionId=session, tool="UserPromptSubmit", payload={"prompt": "Why?"},
                  ts=time.time_ns() // 1_000_000)  # fmt: skip
    assert mem("pause", "--session", "d614c3b5")[0] == DONE
    for words in ("info", "doctor"):
        told = mem(words)[1]
        assert "nothing of session d614c3b5 is captured" in told
        assert "`mem resume --session d614c3b5` ends that" in told
        assert "77aa0000" not in told
    mem("resume", "--session", "d614c3b5")
    assert "d614c3b5" not in mem("info")[1]
