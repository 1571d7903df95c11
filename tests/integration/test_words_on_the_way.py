"""What an agent said between its tool calls only is what the next session is given, and what a person finds first."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from claude_code import ClaudeRun, require_claude
from scripted_api import Script, call, say
from terminals import MEM, seen_at
from test_claude_code_end_to_end import Desk
from test_plugin_end_to_end import given

pytestmark = [pytest.mark.real_client, pytest.mark.slow]

FIRST = "Messages are lost after a failover. Look into it."
CAUSE = "Found it: the consumer acknowledges each message before it is written, so a crash between both drops it."
CLOSING = "Done, the test is green."
SECOND = "why does the consumer lose a message when it crashes?"
SOURCE = """def consume(message, broker, store):
    broker.acknowledge(message)
    store.write(message)
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    require_claude()
    base = tmp_path_factory.mktemp("words")
    made = Desk(base / "home", base / "project")
    made.home.mkdir()
    made.project.mkdir()
    (made.project / "queue.py").write_text(SOURCE)
    subprocess.run(["git", "init", "--quiet"], cwd=made.project, check=True)
    made.mem("install")
    yield made
    with contextlib.suppress(AssertionError):
        made.mem("stop")


@pytest.fixture(scope="module")
def second(desk: Desk) -> ClaudeRun:
    """A session that finds a cause and says it on the way only, then one that asks for it in other words."""
    source = str(desk.project / "queue.py")
    turned = "    store.write(message)\n    broker.acknowledge(message)\n"
    desk.work(
        FIRST,
        Script(
            [
                [say("I read the consumer first."), call("Read", file_path=source)],
                [say(CAUSE), call("Edit", file_path=source, old_string="".join(SOURCE.splitlines(True)[1:]),
                                  new_string=turned)],
                [say("Let me check it."), call("Bash", command="python3 -m py_compile queue.py")],
                [say(CLOSING)],
            ]
        ),
    )  # fmt: skip
    desk.mem("drain")
    return desk.work(SECOND, Script([[say("I see.")]]))


def test_the_next_session_is_given_the_very_sentence_by_recall(second: ClaudeRun) -> None:
    recall = given(second, "UserPromptSubmit")
    assert f"the agent said: «{CAUSE}»" in recall
    assert "Let me check" not in recall


def test_a_search_finds_it_first(desk: Desk, second: ClaudeRun) -> None:
    for query in (SECOND, "messages dropped when the consumer crashes", "acknowledged before written"):
        first = desk.mem("search", query)["hits"][0]
        assert CAUSE in (first["text"], first["passage"]), first


def test_a_person_at_80_columns_reads_the_answer_in_the_first_hit(
    desk: Desk, second: ClaudeRun, tmp_path: Path
) -> None:
    """In a terminal that a program holds: what a person sees of it."""
    screen = seen(desk, ["search", SECOND], columns=80)
    first = screen.split("\n\n")[0]
    assert "acknowledges each message before it is" in " ".join(first.split())
    assert all(len(line) <= 80 for line in screen.splitlines())


def seen(desk: Desk, arguments: list[str], *, columns: int) -> str:
    """Return what a terminal of so many columns shows of `mem`, without its colours."""
    return seen_at(columns, [str(MEM), *arguments], desk.environment(), desk.project)
