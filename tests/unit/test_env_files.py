"""Values of the workspace's own `.env`-like files: which are taken, where they are found again, what is kept."""

from __future__ import annotations

import base64
import gc
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
import whose_folders
from hypothesis import given
from hypothesis import strategies as st

from siftd.capture.touched_folders import touched_folders
from siftd.redact import Redactor
from siftd.redact.env_files import ENTRIES_MAX, FILE_BYTES_MAX, EnvValues
from siftd.redact.env_lines import Value, secret_values
from siftd.redact.env_names import is_read
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
        ("DBPASS=zk-4f9c2e7bQ1", "zk-4f9c2e7bQ1"),
        ("REQUIREPASS=zk-4f9c2e7bQ1", "zk-4f9c2e7bQ1"),
        ("WIFI_PSK=zk-4f9c2e7bQ1", "zk-4f9c2e7bQ1"),
        ("spring.datasource.password=zk-4f9c2e7bQ1", "zk-4f9c2e7bQ1"),
        ("//registry.example:4873/:_authToken=zk-4f9c2e7bQ1", "zk-4f9c2e7bQ1"),
        ("DB_PASSWORD=hun+er2", "hun+er2"),
        ("DB_PASSWORD=$ecret-99x", "$ecret-99x"),
        ("DB_PASSWORD=[brack3t]x", "[brack3t]x"),
        ("DB_PASSWORD={brac3}-x", "{brac3}-x"),
        ("API_KEY=/a+Bc9/dEf0GhIjKlMnOpQrStUvWxYz=", "/a+Bc9/dEf0GhIjKlMnOpQrStUvWxYz="),
        ("DB_PASSWORD='with 3 blanks here'", "with 3 blanks here"),
        ("MAIL_APP_PASSWORD='qkfw ozpd mnxe tbrl'", "qkfw ozpd mnxe tbrl"),
        ("DB_PASSWORD=correct-horse-battery-staple", "correct-horse-battery-staple"),
    ],
)
def test_a_value_under_a_name_that_means_a_secret_is_taken(line: str, value: str) -> None:
    assert Value(value, is_plain=False) in secret_values(line)


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
        "API_KEY=$OTHER_KEY",
        "API_KEY=<your key>",
        "API_KEY={{ vault.key }}",
        "API_TOKEN=op://vault/item/field",
        "API_KEY=$(pass show key)",
        "DB_PASSWORD=letters",
        "BYPASS=zk-4f9c2e7bQ1",
        "PRIVATE_TOKEN=-----BEGIN PRIVATE KEY-----",
    ],
)
def test_what_is_short_common_or_under_a_harmless_name_is_not_taken(line: str) -> None:
    assert secret_values(line) == set()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("terraform.tfstate", '{"outputs":{"db_password":{"value":"zk-4f9c2e7bQ1","type":"string"}}}'),
        ("appsettings.json", '{"Api":{"ClientSecret":"zk-4f9c2e7bQ1"}}'),
        ("appsettings.json", '{\n // why\n "ClientSecret": "zk-4f9c2e7bQ1"\n}'),
        (".netrc", "machine h login u password zk-4f9c2e7bQ1"),
        (".pgpass", "db.example:5432:*:app:zk-4f9c2e7bQ1"),
        (".pypirc", "[pypi]\nusername = __token__\npassword = zk-4f9c2e7bQ1\n"),
        ("credentials", "[default]\naws_secret_access_key = zk-4f9c2e7bQ1\n"),
    ],
    ids=lambda each: each[:12],
)
def test_each_kind_of_file_is_understood(name: str, text: str) -> None:
    assert is_read(name)
    assert secret_values(text, name) == {Value("zk-4f9c2e7bQ1", is_plain=False)}


@pytest.mark.parametrize(
    "value",
    [
        "wordpress",
        "production",
        "Frontend",
        "falcon_quartz_ember",
        "python3",
        "ubuntu22.04",
        "202611221200",
        "user-service",
    ],
)
def test_what_texts_hold_by_chance_is_plain(value: str) -> None:
    assert secret_values(f"DB_PASSWORD={value}") == {Value(value, is_plain=True)}


ASSIGNED = (
    *("password: wordpress", "mysql -uroot -pwordpress db", "mysqldump '-pwordpress'", "MYSQL_PASSWORD=wordpress"),
    *(
        '{"password": "wordpress"}',
        '{\\"password\\":\\"wordpress\\"}',
        "--password wordpress",
        "--db-password=wordpress",
    ),
    *(
        '["--password", "wordpress"]',
        "mysql://root:wordpress@db/wp",
        "IDENTIFIED BY 'wordpress'",
        "$pass => 'wordpress'",
    ),
    *(
        "ALTER LOGIN sa WITH PASSWORD = N'wordpress'",
        "DBPASS=wordpress",
        "passwd := wordpress",
        "export PGPASSWORD=wordpress",
    ),
)
NOT_ASSIGNED = (
    *("/srv/wordpress/wp-config.php", "image: wordpress:6", "--mode wordpress", "NODE_ENV=wordpress", "wordpress"),
    *("docker compose -p wordpress up", "the wordpress password is wrong", "cd wordpress", "https://wordpress.org:443"),
    *("password: wordpresses", "git clone git@wordpress:x", '{"name": "wordpress"}', "mkdir -p 'wordpress'"),
)


def test_a_plain_value_is_hidden_where_it_is_assigned_and_left_everywhere_else(watched: Watched) -> None:
    """A repository's file of settings must not be able to blank a word in everything that is remembered."""
    watched.write(".env", "MYSQL_PASSWORD=wordpress\n")
    for text in ASSIGNED:
        assert watched.values.find(text), text
    for text in NOT_ASSIGNED:
        assert watched.values.find(text) == [], text


@pytest.mark.parametrize(
    "name",
    [
        ".env",
        ".env.local",
        "prod.env",
        ".envrc",
        ".dev.vars",
        "secrets.yaml",
        "a.tfvars",
        "application-prod.yml",
        "application.properties",
        "appsettings.Production.json",
        ".npmrc",
        ".pypirc",
        ".netrc",
        "terraform.tfstate",
        "credentials",
    ],
)
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


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("zk-4f9c2e7bQ1", "zk-4f\x1b[31m9c2e\x1b[0m7bQ1"),
        ("zk-4f9c2e7bQ1", "\x1b[32mzk-4f9c2\\u001b[0me7bQ1"),
        ("hunt!er2-x9", "echo hunt\\!er2-x9"),
        ("tr0ub4dor&3horse", r"tr0ub4dor\&3horse"),
        ("tr0ub4dor&3horse", r"tr0ub4dor\u00263horse"),
        ("tr0ub4dor&3horse", "tr0ub4dor&amp;3horse"),
        ("it's-4-secret", "'it'\\''s-4-secret'"),
        ("it's-4-secret", "'it''s-4-secret'"),
        ("zk-4f9c2e7bQ1", b"zk-4f9c2e7bQ1".hex()),
        ("zk-4f9c2e7bQ1", b"zk-4f9c2e7bQ1".hex().upper()),
        ("9f86d081884c7d659a2feaa0c55ad015", "9F86D081884C7D659A2FEAA0C55AD015"),
    ],
)
def test_a_value_is_found_as_shells_terminals_pages_and_dumps_write_it(
    watched: Watched, value: str, written: str
) -> None:
    watched.write(".env", f'API_TOKEN="{value}"\n')
    text = f"seen: <{written}>"
    [(begin, end, _)] = watched.values.find(text)
    assert text[:begin].endswith(("<", "<'", "<echo ", "[32m"))
    assert text[end:] in (">", "'>")
    assert watched.values.find_suspects([text, "clean"]) == {text}


def test_a_folder_among_many_is_found(watched: Watched) -> None:
    for number in range(300):
        (watched.root / "packages" / f"p{number}").mkdir(parents=True)
    watched.write("packages/p139/.env", f"DB_PASSWORD={PLAIN}\n")
    assert watched.hides(PLAIN)


@pytest.mark.slow
def test_the_folder_of_what_is_touched_is_looked_at_however_many_there_are(watched: Watched) -> None:
    crowd = watched.root / "packages"
    for number in range(ENTRIES_MAX + 50):
        (crowd / f"p{number:05}").mkdir(parents=True)
    hidden = [f"zk-4f9c2e7bQ1{number:05}" for number in range(ENTRIES_MAX + 50)]
    for number, value in enumerate(hidden):
        (crowd / f"p{number:05}" / ".env").write_text(f"API_TOKEN={value}\n")
    unseen = [number for number, value in enumerate(hidden) if not watched.hides(value)]
    assert unseen, "more than a walk sees"
    for how in (
        {"tool_input": {"file_path": f"{crowd}/p{unseen[0]:05}/src.py"}},
        {"tool_input": {"command": f"cd packages/p{unseen[0]:05} && make"}},
    ):
        again = Watched(watched.root)
        again.values.touch(touched_folders(how, str(watched.root)))
        assert again.hides(hidden[unseen[0]])


def test_nothing_outside_of_the_workspace_is_read_for_a_path_that_a_tool_names(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
    (outside / ".env").write_text(f"DB_PASSWORD={PLAIN}\n")
    (inside / "link").symlink_to(outside)
    (inside / ".env").symlink_to(outside / ".env")
    watched = Watched(inside)
    watched.values.touch([str(outside), f"{inside}/../outside", f"{inside}/link", "\0", "a" * 5000, "\ud800/x"])
    assert not watched.hides(PLAIN)


def test_a_link_to_a_file_of_the_workspace_itself_is_followed(watched: Watched) -> None:
    watched.write("shared/settings", f"DB_PASSWORD={PLAIN}\n")
    (watched.root / "web").mkdir()
    (watched.root / "web" / ".env").symlink_to("../shared/settings")
    assert watched.hides(PLAIN)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_not_read(watched: Watched) -> None:
    watched.write(".env", f"DB_PASSWORD={PLAIN}\n")
    os.chown(watched.root / ".env", 12345, -1)
    assert not watched.hides(PLAIN)


def test_devices_and_pipes_in_every_place_that_is_read_cost_nothing(tmp_path: Path) -> None:
    """Git keeps links: a clone can hold them. A pipe comes with an archive."""
    made = whose_folders.new_repository(tmp_path / "repo")
    for entry in (made / "worktrees" / "a", made / ".git" / "worktrees" / "a"):
        entry.mkdir(parents=True)
        (entry / "gitdir").symlink_to("/dev/zero")
    os.mkfifo(made / ".env")
    os.mkfifo(made / "secrets.yaml")
    for name in (".env.local", "terraform.tfstate", "a.env", "credentials"):
        (made / name).symlink_to("/dev/zero")
    (made / "config").symlink_to("/dev")
    (made / "web").mkdir()
    (made / "web" / ".env").write_text(f"DB_PASSWORD={PLAIN}\n")
    assert Watched(made).hides(PLAIN)


def least_seconds(seconds: Callable[[int], float], size: int) -> float:
    """The least of five: whatever else the machine does only adds to it."""
    return min(seconds(size) for _ in range(5))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        'A_TOKEN="',
        "A_TOKEN='",
        "password password ",
        "a=://:",
        '{"token":',
        "a: , , ",
        "TOKEN=1.1.1.1.1",
        " \t-",
        "\\",
        "$",
    ],
)
def test_a_file_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def seconds(size: int) -> float:
        texts = [(piece * size)[:size], ((piece + "\n") * size)[:size]]
        started = time.thread_time()
        for name in (".env", ".netrc", ".pgpass", "a.json"):
            for text in texts:
                secret_values(text, name)
        return time.thread_time() - started

    assert least_seconds(seconds, 80_000) < 10 * max(least_seconds(seconds, 20_000), 0.005)


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["wordpress", "wordpress ", "-p", "a:", "password=wordpress\"'`", "://wordpress@"])
def test_a_text_full_of_a_plain_value_takes_time_in_proportion_to_its_length(watched: Watched, piece: str) -> None:
    watched.write(".env", "MYSQL_PASSWORD=wordpress\n")

    def seconds(size: int) -> float:
        text = (piece * size)[:size]
        started = time.thread_time()
        watched.values.find(text)
        return time.thread_time() - started

    assert least_seconds(seconds, 80_000) < 10 * max(least_seconds(seconds, 20_000), 0.005)


@pytest.mark.slow
def test_a_changing_folder_of_100000_files_costs_a_capture_nothing_measurable(tmp_path: Path) -> None:
    """In the thread that captures: the far look has its own, and lists no more than its bound of any folder."""
    small, large = tmp_path / "small", tmp_path / "large"
    for folder, size in ((small, 10), (large, 100_000)):
        (folder / "images").mkdir(parents=True)
        (folder / ".env").write_text(f"DB_PASSWORD={PLAIN}\n")
        for number in range(size):
            os.close(os.open(f"{folder}/images/{number}.png", os.O_CREAT | os.O_WRONLY))

    def seconds(root: Path) -> float:
        clock = [0.0]
        values = EnvValues(str(root), lambda: clock[0], in_background=True)
        values.wait(60)
        spent = 0.0
        for number in range(100):
            (root / "images" / f"new{number}.png").touch()
            clock[0] += 1
            started = time.thread_time()
            values.touch([f"{root}/images"])
            assert values.find(PLAIN)
            spent += time.thread_time() - started
            values.wait(60)
        return spent

    seconds(small)
    assert seconds(large) < 10 * seconds(small), "listing it would cost a thousand times as much"


def test_a_first_capture_is_redacted_by_the_workspaces_own_file_and_the_next_by_all(tmp_path: Path) -> None:
    """What lies deep is looked for in a thread; nobody waits for it but a start, for a quarter of a second."""
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / ".env").write_text(f"DB_PASSWORD={PLAIN}\n")
    (tmp_path / "deep" / "er" / ".env").write_text("API_TOKEN=zk-4f9c2e7bQ1\n")
    values = EnvValues(str(tmp_path), in_background=True)
    assert values.find(PLAIN)
    values.wait(60)
    assert values.find("zk-4f9c2e7bQ1")


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


def test_a_linked_worktrees_files_count_too(tmp_path: Path) -> None:
    made = whose_folders.new_repository(tmp_path / "repo")
    whose_folders.git("worktree", "add", "-q", tmp_path / "linked", cwd=made)
    (tmp_path / "linked" / ".env").write_text(f"DB_PASSWORD={PLAIN}\n")
    assert Watched(made).hides(PLAIN)


def test_a_note_of_a_worktree_that_the_worktree_does_not_return_is_not_followed(tmp_path: Path) -> None:
    """Else a repository could have any folder's settings read."""
    made = whose_folders.new_repository(tmp_path / "repo")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".env").write_text(f"DB_PASSWORD={PLAIN}\n")
    for entry in (made / ".git" / "worktrees" / "a", made / "worktrees" / "a"):
        entry.mkdir(parents=True)
        (entry / "gitdir").write_text(f"{tmp_path}/other/.git\n")
    assert not Watched(made).hides(PLAIN)


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


@pytest.mark.slow
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


def test_a_value_far_behind_in_a_file_or_in_one_of_many_files_is_known(watched: Watched) -> None:
    watched.write("terraform.tfstate", "#" * 200_000 + f"\nDB_PASSWORD={PLAIN}\n")
    for number in range(60):
        (watched.root / f"{number}.env").write_text(f"API_TOKEN=zk-4f9c2e7bQ{number:02}\n")
    watched.seconds += 1
    assert watched.hides(PLAIN)
    assert all(watched.hides(f"zk-4f9c2e7bQ{number:02}") for number in range(60))
