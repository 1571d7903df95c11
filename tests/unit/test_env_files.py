"""Values of the workspace's own `.env`-like files: which are taken, where they are found again, what is kept."""

from __future__ import annotations

import base64
import gc
import json
import os
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siftd.env_files import FILE_BYTES_MAX, EnvValues, is_read, secret_values
from siftd.redact import Redactor
from siftd.redact.values import Hasher, KnownValues

VALUE = "brass Monkey/42+zig?zag"
PLAIN = "tr0ub4dor&3horse"


class Watched:
    """A workspace with a clock of its own and the redactor that knows its files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.seconds = 0.0
        self.values = EnvValues(str(root), lambda: self.seconds)
        self.redactor = Redactor(b"k" * 32, searchers=[self.values])

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)
        self.seconds += 1

    def hides(self, secret: str) -> bool:
        return secret not in self.redactor.text(f"the value {secret} was seen")


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("API_KEY=zk-4f9c2e7bQ1", "zk-4f9c2e7bQ1"),
        ("export DB_PASSWORD='tr0ub4dor&3horse'", "tr0ub4dor&3horse"),
        ('  SESSION_SECRET = "q7-Zr\\"x9.Lm2"  # rotate', 'q7-Zr"x9.Lm2'),
        ("MAIL_TOKEN=zk-4f9c2e7bQ1 # comment", "zk-4f9c2e7bQ1"),
        ('  "clientSecret": "zk-4f9c2e7bQ1",', "zk-4f9c2e7bQ1"),
        ("  password: zk-4f9c2e7bQ1", "zk-4f9c2e7bQ1"),
        ('db_password = "zk-4f9c2e7bQ1"', "zk-4f9c2e7bQ1"),
        ("DATABASE_URL=postgres://app:zk%2D4f9c2e7bQ1@db:5432/app", "zk-4f9c2e7bQ1"),
        ("PASSWORD_SALT=zk-4f9c2e7bQ1", "zk-4f9c2e7bQ1"),
    ],
)
def test_a_value_under_a_name_that_means_a_secret_is_taken(line: str, value: str) -> None:
    assert value in secret_values(line)


@pytest.mark.parametrize(
    "line",
    [
        "LOG_LEVEL=verbose-9000",
        "DB_PASSWORD=postgres",
        "DB_PASSWORD=postgres123",
        "API_KEY=short1",
        "API_KEY=changeme",
        "API_KEY=${OTHER_KEY}",
        "API_TOKEN=xxxxxxxxxxxx",
        "PUBLIC_KEY=zk-4f9c2e7bQ1",
        "AUTH_SECRET=localhost:5432",
        "TOKEN_SECRET=/etc/keys/token.pem",
        "# API_KEY=zk-4f9c2e7bQ1",
        "SERVICE_TOKEN=1a2b3c4d",
    ],
)
def test_what_is_short_common_or_under_a_harmless_name_is_not_taken(line: str) -> None:
    assert secret_values(line) == set()


@pytest.mark.parametrize("name", [".env", ".env.local", "prod.env", ".envrc", ".dev.vars", "secrets.yaml", "a.tfvars"])
def test_files_of_these_names_are_read(name: str) -> None:
    assert is_read(name)


@pytest.mark.parametrize("name", [".env.example", ".env.sample", "env.py", "secrets.example.yaml", "environment.ts"])
def test_files_that_are_made_to_be_shown_and_others_are_not_read(name: str) -> None:
    assert not is_read(name)


def test_a_value_is_redacted_in_every_form_and_at_every_place(watched: Watched) -> None:
    watched.write("services/api/.env", f'PAYMENT_PASSWORD="{VALUE}"\n')
    forms = [
        VALUE,
        json.dumps({"x": VALUE}),
        f"glued{VALUE}glued",
        f"line\\n{VALUE}\\nline",
        quote(VALUE, safe=""),
        *(base64.b64encode(b"u" * n + b":" + VALUE.encode()).decode() for n in range(3)),
        *(base64.urlsafe_b64encode(b"?" * n + VALUE.encode() + b">>").decode() for n in range(3)),
    ]
    for form in forms:
        left = watched.redactor.value({"tool_input": {"deep": [[form]], form: 1}})
        assert "[REDACTED:env-value:" in json.dumps(left), form
        core = form[8:-8] if VALUE not in form else VALUE
        assert core not in json.dumps(left), form
    assert "monkey" not in watched.redactor.text("Brass monkeys stay").replace("monkeys", "")


def test_a_new_changed_or_deeper_file_is_seen_and_an_old_value_stays_known(watched: Watched) -> None:
    assert not watched.hides(PLAIN)
    watched.write(".env", f"DB_PASSWORD={PLAIN}\n")
    assert watched.hides(PLAIN)
    watched.write(".env", "DB_PASSWORD=an0ther-Passw0rd-9\n")
    assert watched.hides("an0ther-Passw0rd-9")
    assert watched.hides(PLAIN)
    watched.write("apps/web/.env.local", "API_TOKEN=zk-4f9c2e7bQ1\n")
    assert watched.hides("zk-4f9c2e7bQ1")


def test_files_are_asked_at_most_twice_a_second(watched: Watched) -> None:
    assert not watched.hides(PLAIN)
    (watched.root / ".env").write_text(f"DB_PASSWORD={PLAIN}\n")
    watched.seconds += 0.4
    assert not watched.hides(PLAIN)
    watched.seconds += 0.2
    assert watched.hides(PLAIN)


def test_a_linked_worktrees_files_count_too(watched: Watched, tmp_path: Path) -> None:
    other = tmp_path.parent / f"{tmp_path.name}-linked"
    other.mkdir()
    (other / ".env").write_text(f"DB_PASSWORD={PLAIN}\n")
    watched.write(".git/worktrees/linked/gitdir", f"{other}/.git\n")
    assert watched.hides(PLAIN)


def test_a_named_pipe_a_huge_file_and_an_unreadable_one_cost_nothing(watched: Watched) -> None:
    """Some password managers put a pipe where `.env` is wanted: whoever opens it would wait for ever."""
    os.mkfifo(watched.root / ".env")
    (watched.root / ".env.locked").write_text("API_KEY=zk-4f9c2e7bQ1")
    (watched.root / ".env.locked").chmod(0)
    watched.write("big.env", "#" * FILE_BYTES_MAX + f"\nDB_PASSWORD={PLAIN}\n")
    assert not watched.hides(PLAIN)


def test_folders_of_dependencies_and_hidden_ones_are_not_entered(watched: Watched) -> None:
    watched.write("node_modules/x/.env", f"DB_PASSWORD={PLAIN}\n")
    watched.write(".cache/.env", f"DB_PASSWORD={PLAIN}\n")
    assert not watched.hides(PLAIN)


def test_no_value_stays_in_memory(watched: Watched) -> None:
    watched.write(".env", f"DB_PASSWORD={PLAIN}\n")
    assert watched.hides(PLAIN)
    seen: set[int] = set()
    waiting: list[object] = [watched.values]
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, type):
            continue
        seen.add(id(each))
        assert not (isinstance(each, str) and PLAIN in each)
        assert not (isinstance(each, bytes) and PLAIN.encode() in each)
        waiting += [one for one in gc.get_referents(each) if not callable(one) and not isinstance(one, type(gc))]


@given(
    values=st.lists(st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=8), max_size=6),
    around=st.lists(st.text(max_size=20), min_size=7, max_size=7),
    pure=st.booleans(),
)
def test_whatever_the_values_and_what_stands_around_each_is_found(
    values: list[str], around: list[str], pure: bool
) -> None:
    """Both engines; a value may hold another, and stand glued to anything."""
    hasher = Hasher()
    known = KnownValues(hasher, [form for value in values for form in hasher.forms(value)], pure=pure)
    text = "".join(a + b for a, b in zip(around, [*values, *[""] * 7], strict=False))
    covered = {at for begin, end, _ in known.find(text) for at in range(begin, end)}
    for value in values:
        start = text.find(value)
        assert covered.issuperset(range(start, start + min(8, len(value)))) or start in covered
    assert bool(known.find_suspects([text, "clean"])) == bool(covered)
