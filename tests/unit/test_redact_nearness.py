"""What stands near a telling word goes, and what only resembles it stays."""

from __future__ import annotations

import json

import pytest

from siftd.redact import Redactor
from siftd.redact.finder import shared_finder
from siftd.redact.nearness import find_near
from siftd.redact.prefilter import prefilter_bytes

SECRET = "Tr0ub4dor" + "&37"


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return Redactor(b"workspace secret")


@pytest.mark.parametrize(
    "text",
    [
        'config.setPassword("{}");',
        'if ("{}".equals(password)) {{',
        "process.env.DB_PASSWORD ?? '{}'",
        "cy.get('#password').type('{}')",
        'var password = []byte("{}")',
        "ALTER USER app PASSWORD '{}';",
        "the password for the staging db is {}, please run it",
        "Passwort ist {}",
        "\u043f\u0430\u0440\u043e\u043b\u044c: {}",
        "contrase\u00f1a: {}",
        "login: bob pass: {}",
        "creds are bob/{}",
        "requirepass {}",
        "pswd = '{}'",
        "password:\n  {}\n",
        '{{"name": "DB_PASSWORD",\n "value": "{}"}}',
        '{{\\\\\\"password\\\\\\":\\\\\\"{}\\\\\\"}}',
        "&quot;password&quot;:&quot;{}&quot;",
        "user,password\nbob,{}\n",
        " user | password\n------+----------\n bob  | {}\n",
        "psexec \\\\h -u bob -p {} cmd",
        "mysql -u root -p{} shop",
        "echo 'root:{}' | chpasswd",
        "ldapsearch -D cn=a -w {} -b dc=x",
        "\u043f\u0430\u0440\u043e\u043b\u044c \u043e\u0442 \u0441\u0435\u0440\u0432\u0435\u0440\u0430 {}",
        "my pw for jenkins changed to {}, update the script",
        "A temporary password is generated for root@localhost: {}",
        "webhook secret: {}",
        "Backup code: {}\n",
        'client.login("marta", "{}")',
        "'auth' => ['marta', '{}'],",
        "expect(password).toBe('{}')",
        'Content-Disposition: form-data; name="password"\r\n\r\n{}\r\n',
        "<tr>\n<th>login</th>\n<th>password</th>\n</tr>\n<tr>\n<td>bob</td>\n<td>{}</td>\n</tr>",
        "INSERT INTO users (name, password) VALUES ('bob', '{}');",
        "UserName Password\n-------- --------\nbob      {}\n",
    ],
)
def test_a_password_near_a_telling_word_goes_whatever_grammar_holds_it(redactor: Redactor, text: str) -> None:
    cleaned = redactor.text(text.format(SECRET))
    assert SECRET not in cleaned
    assert redactor.text(cleaned) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=4096, pad_token_id=50256, token_type: bearer",
        "test_password_is_hashed PASSED",
        "import { password } from '@inquirer/prompts'",
        "'django.contrib.auth.hashers.PBKDF2PasswordHasher',",
        "Failed password for root from 192.168.1.10 port 22 ssh2",
        "All tests pass.\n**Lint:** clean\n",
        '"password.placeholder": "Enter your password",',
        "password_encryption = scram-sha-256",
        "Password: see 1Password.",
    ],
)
def test_code_names_and_prose_about_passwords_stay(redactor: Redactor, text: str) -> None:
    assert redactor.text(text) == text


@pytest.mark.parametrize("word", ["tidal.Wave9", "maple-otter-lantern", "saddleraven", "28471935", "mIhBVrVORZ_e*Bthh"])
@pytest.mark.parametrize(
    "text",
    [
        "DB_PASSWORD={}\n",
        'password = "{}"\n',
        '{{"user": "shop", "password": "{}"}}',
        "db:\n  password: {}\n",
        "psql 'host=db user=shop password={}'",
        '<add key="DbPassword" value="{}" />',
        "mysql --user=root --password={} shop",
    ],
)
def test_words_and_numbers_that_people_take_go_where_a_password_is_assigned(
    redactor: Redactor, text: str, word: str
) -> None:
    assert word not in redactor.text(text.format(word))


@pytest.mark.parametrize(
    "text",
    [
        "password: this.state.step2\n",
        "    password=config.db1,\n",
        "'password' => 'required|string|min:8',",
        "password: z.string().min(8).max(128),",
        "passwords: 120034",
        "password_reset_timeout = 259200",
        "Password: incorrect",
        "autocomplete: current-password",
        "secretName: db-credentials-v2",
        '"password": "form.labels.password",',
        "INSERT INTO users (name, role) VALUES ('marta', 'admin2');",
        'NAMES = [\n    "password",\n    "clipboard",\n    "clearstatcache",\n    "ripemd160x",\n]',
        "arguments to pass to the fortran77 compiler",
        "return hmac.HMAC(pwd, challenge, 'md5')",
        "str(_encode_auth('username%3Apassword'))",
        "Name     Password set\n-------- ------------\nmarta    2024-11-20",
    ],
)
def test_what_code_and_messages_say_under_such_a_name_stays(redactor: Redactor, text: str) -> None:
    assert redactor.text(text) == text


def test_each_insert_is_read_by_its_own_columns(redactor: Redactor) -> None:
    """One ends where the next begins, with a semicolon or without."""
    text = (
        "INSERT INTO users (name, password) VALUES ('ann', 'hunter2a'), ('bob', 'hunter2b')\n"
        "insert into logins (pw, name) values ('hunter2c', 'step2');\n"
        "INSERT INTO users (name, password) VALUES ('zoe', 'hunter2d');\n"
    )
    cleaned = redactor.text(text)
    assert "hunter2" not in cleaned
    assert all(f"'{name}'" in cleaned for name in ("ann", "bob", "step2", "zoe"))


def test_a_sentence_without_blanks_is_no_name_of_a_key(redactor: Redactor) -> None:
    """Chinese and Japanese put none between a word and what follows it."""
    assert "Sommer2024" not in redactor.text("\u30d1\u30b9\u30ef\u30fc\u30c9\u306fSommer2024\u3067\u3059")


@pytest.mark.parametrize(
    "prompt",
    [
        "unlock the nas with {}",
        "grafana admin {}",
        "log in as marta with {} and check the report",
        "{} = sudo",
        "test account\nuser: marta\n{}\nplease run the e2e tests with it",
        "when it asks, {}",
    ],
)
def test_what_a_person_types_to_get_in_somewhere_goes(redactor: Redactor, prompt: str) -> None:
    typed = {"prompt": prompt.format(SECRET)}
    cleaned = redactor.value(typed)
    assert SECRET not in cleaned["prompt"]
    assert redactor.value(cleaned) == cleaned


@pytest.mark.parametrize(
    "prompt",
    [
        "log in as admin with chrome and take a screenshot of step2",
        "the user handler getUserById2 fails with key i18n.step2 in v2.14.3",
        "sign in to https://shop.example/a?b=1&c=2x9y and run src/a1b2.py",
        "ssh build-2x and look at 3f9a1c7e5b2d8046af13",
    ],
)
def test_a_prompt_without_a_password_stays(redactor: Redactor, prompt: str) -> None:
    assert redactor.value({"prompt": prompt}) == {"prompt": prompt}


@pytest.mark.parametrize(
    "command",
    ["kubectl get secret db -o jsonpath='{.data.pw}' | base64 -d", "printenv DB_PASSWORD", "pass show db/prod"],
)
def test_the_bare_output_of_a_command_that_prints_a_secret_is_one(redactor: Redactor, command: str) -> None:
    """Command and output are strings apart; what the one says holds for the other."""
    call = {"tool_input": {"command": command}, "tool_response": {"stdout": "meadow-1674-kite\n", "stderr": ""}}
    assert "meadow-1674-kite" not in str(redactor.value(call))


def test_labels_pairs_columns_and_arguments_of_a_payload_name_their_secrets(redactor: Redactor) -> None:
    payload = {
        "fields": [{"id": "user", "value": "bob"}, {"id": "password", "value": SECRET}],
        "headers": [["X-Api-Key", "tidCEO7VojDCtt9"]],
        "args": ["mysql", "-p", SECRET],
        "password": {"value": SECRET},
        "number": {"password": 1159632369122},
        "columns": ["login", "passwd"],
        "rows": [["marta", SECRET]],
    }
    cleaned = str(redactor.value(payload))
    assert not any(secret in cleaned for secret in (SECRET, "tidCEO7VojDCtt9", "1159632369122"))
    assert "marta" in cleaned


def test_a_line_with_nothing_but_what_a_rule_has_found_is_not_read_again() -> None:
    """Lines of secrets would otherwise cost several times what the rules cost, and a courier would die of them."""
    line = "db_password: Zq7!kfW2#pXd\n"
    finder = shared_finder(frozenset(), False)
    text = line * 3
    near = find_near(text, prefilter_bytes(text), finder.secret_words, None)
    assert [text[begin:end] for begin, end, _ in near] == ["Zq7!kfW2#pXd"] * 3
    assert find_near(text, prefilter_bytes(text), finder.secret_words, None, near) == []


def test_what_adjoins_a_known_secret_is_still_read() -> None:
    text = "db_password: Zq7!kfW2#pXd\n"
    finder = shared_finder(frozenset(), False)
    begin = text.index("Zq7")
    near = find_near(text, prefilter_bytes(text), finder.secret_words, None, [(begin, begin + 4, "password")])
    assert [text[first:last] for first, last, _ in near] == ["Zq7!kfW2#pXd"]


def test_a_line_that_a_backslash_continues_leads_to_the_value_behind_it(redactor: Redactor) -> None:
    assert "Qwe!2345rt488" not in redactor.text("tool login --password \\\n  Qwe!2345rt488\ncommand\n")


@pytest.mark.parametrize("before", ["", " ", "+", "  ", "    ", "     2\u2192", "12\t"])
def test_a_line_of_a_dialogue_gives_its_password_indented_and_numbered(redactor: Redactor, before: str) -> None:
    text = f"open ftp.example.com\n{before}user bob s3cr3tPass364\nget a"
    assert "s3cr3tPass364" not in redactor.text(text)
    assert "s3cr3tPass364" not in redactor.text(json.dumps({"log": text}))
    assert redactor.text("then the user bob s3cr3tPass364x came in") == "then the user bob s3cr3tPass364x came in"


@pytest.mark.parametrize(
    "text",
    [
        "pytest -q tests/test_auth.py",
        "AUTH infrastructure comes first",
        "the login page 404s",
        "see basic_auth 12 times",
    ],
)
def test_what_takes_a_user_and_a_password_tells_only_where_it_is_called(text: str) -> None:
    assert shared_finder(frozenset(), False).secret_words.search(prefilter_bytes(text)) is None


@pytest.mark.parametrize(
    "said",
    ["auth=OAuth('bob', '{}')", 'auth = ("bob", "{}")', '"auth": ["bob", "{}"]', r"{{\"auth\": [\"bob\", \"{}\"]}}"],
)
def test_the_second_of_what_is_called_with_a_user_is_a_password(redactor: Redactor, said: str) -> None:
    assert "Tr0ub4dor3711x" not in redactor.text(said.format("Tr0ub4dor3711x"))


def test_the_names_of_tests_tell_of_no_secret_and_what_stands_beside_them_is_read(redactor: Redactor) -> None:
    """Lists of tests are the most frequent output of all, and each name of `test_token_12` was read for a value."""
    names = "".join(f"tests/test_auth.py::test_token_{n} PASSED  [{n:3}%]\n" for n in range(38))
    assert shared_finder(frozenset(), False).find_suspects([names]) == set()
    assert "Tr0ub4dor" not in redactor.text(f"{names}the password is Tr0ub4dor&3711\n")
    assert "Tr0ub4dor" not in redactor.text("tests/test_auth.py::test_token FAILED password=Tr0ub4dor&3711\n")
