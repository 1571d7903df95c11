"""What a payload looks like after redaction."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from concurrent.futures import ThreadPoolExecutor

import pytest

from siftd.errors import EnvelopeRejected
from siftd.redact import Redactor

TOKEN = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2fG4hJ6"
BODY = ["MIIEowIBAAKCAQEAx7Jq9vT3mK2pW8sL4nR6yB1cD5fG0hZaQeUiOoPlKjHgFdSa", "vT3mK2pW8sL4nR6yB1cD5fG0hZaQeUiO"]
BEGIN, END = "-----BEGIN RSA PRIVATE" + " KEY-----", "-----END RSA PRIVATE" + " KEY-----"


@pytest.fixture
def redactor() -> Redactor:
    return Redactor(b"workspace secret")


def test_two_secrets_are_told_apart_and_equal_ones_look_equal(redactor: Redactor) -> None:
    other = TOKEN[:-1] + "7"
    a, b, c = (redactor.text(text) for text in (TOKEN, other, TOKEN))
    assert a == c != b
    assert Redactor(b"another").text(TOKEN) != a


def test_a_clean_payload_is_returned_as_it_is(redactor: Redactor) -> None:
    payload = {"tool_input": {"command": "ls -la", "n": 3, "deep": [None, {"x": ["a", "b"]}]}}
    assert redactor.value(payload) is payload


def test_only_what_holds_a_secret_is_made_anew(redactor: Redactor) -> None:
    payload = {"kept": {"a": ["b"]}, "changed": {"env": [1, {"deep": f"x {TOKEN} y"}]}}
    cleaned = redactor.value(payload)
    assert TOKEN not in str(cleaned)
    assert cleaned["kept"] is payload["kept"]
    assert TOKEN in payload["changed"]["env"][1]["deep"]


def test_object_keys_are_redacted_and_no_value_is_lost(redactor: Redactor) -> None:
    cleaned = redactor.value({TOKEN: 1, "b": 2})
    assert TOKEN not in str(cleaned)
    assert sorted(cleaned.values()) == [1, 2]


def test_a_value_under_a_key_that_names_a_secret_is_one(redactor: Redactor) -> None:
    cleaned = redactor.value({"db": {"password": "hunter2-x", "user": "hunter2-x"}, "max_tokens": "4096"})
    assert cleaned["db"]["password"].startswith("[REDACTED:password:")
    assert cleaned["db"]["user"] == "hunter2-x"
    assert cleaned["max_tokens"] == "4096"


@pytest.mark.parametrize(
    "text",
    [
        "\n".join([BEGIN, *BODY, END]),
        "\\n".join([BEGIN, *BODY, END]),
        "\n".join([BEGIN, *BODY]),
        "\n".join(f"     {n}\t{line}" for n, line in enumerate([BEGIN, *BODY, END], 1)),
        "\n".join(f"     {n}→{line}" for n, line in enumerate([BEGIN, *BODY], 1)),
        "\n".join("+" + line for line in [BEGIN, *BODY, END]),
        "\n".join("-" + line for line in [BEGIN, *BODY, END]),
    ],
)
def test_a_private_key_goes_in_whatever_form_it_is_shown(redactor: Redactor, text: str) -> None:
    cleaned = redactor.text(f"before\n{text}\nafter the key")
    assert not any(line in cleaned for line in BODY)
    assert cleaned.startswith("before\n")
    assert cleaned.endswith("after the key")


def test_a_private_key_over_a_list_of_lines_goes_and_the_lines_stay_as_many(redactor: Redactor) -> None:
    lines = [" context", *("+" + line for line in [BEGIN, *BODY, END]), " more"]
    cleaned = redactor.value({"structuredPatch": [{"lines": lines}]})["structuredPatch"][0]["lines"]
    assert len(cleaned) == len(lines)
    assert (cleaned[0], cleaned[-1]) == (" context", " more")
    assert not any(line in item for line in BODY for item in cleaned)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <private>b</private> c", "a [REDACTED:private] c"),
        ("a <PRIVATE reason='x'>b</Private > c", "a [REDACTED:private] c"),
        ("a < private >b<private>c</private>d</private> e", "a [REDACTED:private] e"),
        ("a <private>b and the rest", "a [REDACTED:private]"),
        ("<PrivateRoute>b</PrivateRoute>", "<PrivateRoute>b</PrivateRoute>"),
    ],
)
def test_private_text_is_cut(redactor: Redactor, text: str, expected: str) -> None:
    assert redactor.text(text) == expected


def test_in_jsx_only_the_lower_case_tag_is_private(redactor: Redactor) -> None:
    assert redactor.text("<Private>a</Private>", jsx=True) == "<Private>a</Private>"
    assert redactor.text("<private>a</private>", jsx=True) == "[REDACTED:private]"


def test_private_is_cut_per_string_and_a_list_of_lines_is_one(redactor: Redactor) -> None:
    cleaned = redactor.value({"a": "x <private> y", "b": "kept", "lines": ["p", "<private>", "q", "</private>", "r"]})
    assert cleaned == {"a": "x [REDACTED:private]", "b": "kept", "lines": ["p", "[REDACTED:private]", "", "", "r"]}


@pytest.mark.parametrize(
    "text",
    [
        "password=[REDACTED:password:7f3a]",
        "https://user:[REDACTED:url-password:7f3a]@host/",
        "Authorization: Bearer [REDACTED:bearer-token:7f3a]",
        "token: [REDACTED:private]",
    ],
)
def test_placeholders_are_left_alone(redactor: Redactor, text: str) -> None:
    assert redactor.text(text) == text


def test_a_token_keeps_its_own_name_in_an_assignment(redactor: Redactor) -> None:
    assert redactor.text(f"GITHUB_TOKEN={TOKEN}").startswith("GITHUB_TOKEN=[REDACTED:github-token:")


def test_emails_and_phones_can_be_switched_off() -> None:
    text = "alice@example.com +1 (555) 234-5678"
    assert Redactor(b"k").text(text).count("[REDACTED:") == 2
    assert Redactor(b"k", emails=False, phones=False).text(text) == text


def test_replacements_are_counted_by_rule_from_several_threads(redactor: Redactor) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(redactor.text, [f"x {TOKEN}"] * 40))
    assert redactor.counts == {"github-token": 40}


def test_nesting_beyond_any_real_payload_is_rejected_by_name(redactor: Redactor) -> None:
    payload: object = TOKEN
    for _ in range(5000):
        payload = [payload]
    with pytest.raises(EnvelopeRejected) as caught:
        redactor.value(payload)
    assert caught.value.reason == "nested_too_deep"


@pytest.mark.parametrize("escape", [r"\n", r"\t", r"\r", r"\\n"])
def test_a_token_right_behind_an_escape_is_found(redactor: Redactor, escape: str) -> None:
    """The letter of the escape is not the beginning of a word; a token that may not begin within one is found."""
    token = "5172839406:AAaB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2fG4"
    text = redactor.text(f'{{"log": "first{escape}{token}{escape}last"}}')
    assert token not in text
    assert text.startswith(f'{{"log": "first{escape}[REDACTED:telegram-token:')
    assert text.endswith(f'{escape}last"}}')


def test_an_escape_in_jsx_makes_no_component_private(redactor: Redactor) -> None:
    text = 'const a = "one\\ntwo"; return <Private><Page /></Private>'
    assert "\\n" in text
    assert redactor.text(text, jsx=True) == text


def test_a_cookie_within_a_sentence_is_found(redactor: Redactor) -> None:
    assert "aB3dE5gH7jK9" not in redactor.text(
        "before Cookie: lang=en; sessionid=aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2fG after"
    )


@pytest.mark.parametrize("code", ["\x1b[31m", "\x1b[0;1m", "\\u001b[0m", "\\x1b[1m", "\\033[K"])
def test_a_token_with_colours_inside_goes_and_the_colours_around_it_stay(redactor: Redactor, code: str) -> None:
    coloured = f"a {code}word{code} {code}{TOKEN[:3]}{code}{TOKEN[3:20]}{code}{TOKEN[20:]}{code} b"
    cleaned = redactor.text(coloured)
    assert TOKEN[3:20] not in cleaned
    assert TOKEN[20:] not in cleaned
    assert cleaned.startswith(f"a {code}word{code} ")
    assert cleaned.endswith(f"{code} b")
    assert redactor.text(cleaned) == cleaned


def test_coloured_text_without_a_secret_is_kept(redactor: Redactor) -> None:
    text = "\x1b[1mdiff\x1b[0m \x1b[32m+ added\x1b[0m \\u001b[31mred"
    assert redactor.text(text) == text


@pytest.mark.parametrize("wrap", ["{}", "see {} there", '{{"data":"{}"}}'])
def test_a_token_in_base64_or_percent_signs_goes(redactor: Redactor, wrap: str) -> None:
    for encoded in (
        b64encode(f"machine token is {TOKEN} now".encode()).decode(),
        urlsafe_b64encode(f"export GITHUB_TOKEN={TOKEN}\n".encode()).decode().rstrip("="),
        TOKEN.replace("_", "%5F"),
    ):
        cleaned = redactor.text(wrap.format(encoded))
        assert encoded not in cleaned
        assert "[REDACTED:github-token:" in cleaned


def test_base64_that_hides_nothing_is_kept(redactor: Redactor) -> None:
    for data in (bytes(range(256)), b"words and words without any secret in them, of some length " * 4):
        text = f"data:image/png;base64,{b64encode(data).decode()}"
        assert redactor.text(text) == text


def test_a_token_at_the_end_of_a_long_run_that_is_none_is_found(redactor: Redactor) -> None:
    """A long refused run is not tried anew at each place, yet its end is."""
    real = "xa" + "i-" + "aB3dE5gH7jK9mN1pQ4sT6vW8yZ0bC2fG4hJ6kL8nP0rS2tU4wX6zA8cD1eF3gH5jK7mN9pQ1sT3vW5yZ7"
    assert real not in redactor.text("xai-" * 2000 + real)


@pytest.mark.parametrize("columns", [40, 64, 4_000])
def test_a_private_key_goes_however_far_into_the_text_it_stands(redactor: Redactor, columns: int) -> None:
    """Whether it holds key material is asked of the match, wherever that begins: also of a body on one line."""
    body = "".join(BODY) * 16
    lines = [body[at : at + columns] for at in range(0, len(body), columns)]
    for kind in ("ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"):
        key = "\n".join([f"-----BEGIN {kind}-----", "", *lines, f"-----END {kind}-----"])
        cleaned = redactor.text("a line of the log that tells nothing\n" * 200 + key + "\nafter")
        assert not any(line in cleaned for line in lines)
        assert cleaned.endswith("after")


@pytest.mark.parametrize(
    "text",
    [
        "TLS_KEY={key}\nPASSWORD=hunter22xx\n",
        "    client-key-data: {key}\n    password: hunter22xx\n",
        "key: {key}\nclient_secret: {token}\n",
        "{key}\n{token}\n",
    ],
)
def test_an_encoded_private_key_ends_before_the_name_on_the_next_line(redactor: Redactor, text: str) -> None:
    """A line that goes on with it is base64 to its end; else it would take the next name, and leave its value bare."""
    key = b64encode("\n".join([BEGIN, *BODY, END]).encode()).decode()
    cleaned = redactor.text(text.format(key=key, token=TOKEN))
    assert not any(secret in cleaned for secret in (key, "hunter22xx", TOKEN))


def test_an_encoded_private_key_that_is_wrapped_goes_whole(redactor: Redactor) -> None:
    key = b64encode("\n".join([BEGIN, *BODY, END]).encode()).decode()
    lines = [key[at : at + 76] for at in range(0, len(key), 76)]
    cleaned = redactor.text("before\n" + "\n".join(lines) + "\nafter it\n")
    assert not any(line in cleaned for line in lines)
    assert cleaned.endswith("\nafter it\n")


@pytest.mark.parametrize("end", [",", ";", ")", "}", "]"])
def test_a_generated_key_goes_whatever_sign_stands_behind_it(redactor: Redactor, end: str) -> None:
    secret = TOKEN[4:] + "xY4"
    assert secret not in redactor.text(f"{{ key: {secret}{end} next: 1 }}")


def test_a_cookie_leaves_what_stands_behind_it_in_the_line_to_the_other_rules(redactor: Redactor) -> None:
    text = 'cookie: theme=dark; sid=pz2O6H6ftTaKPfqLv5f8nlteu8 status=200 password="correct9horse313"'
    cleaned = redactor.text(text)
    assert "correct9horse313" not in cleaned
    assert "pz2O6H6ftTaKPfqLv5f8nlteu8" not in cleaned
    assert " status=200 password=" in cleaned


@pytest.mark.slow
def test_keys_that_become_equal_keep_their_values_in_linear_room(redactor: Redactor) -> None:
    """Each gets the next free number. With a sign more for each, a thousand keys made megabytes."""
    cleaned = redactor.value({f"<private>{number}</private>": number for number in range(8_000)})
    assert sorted(cleaned.values()) == list(range(8_000))
    assert sum(map(len, cleaned)) < 32 * 8_000


def test_a_value_that_is_known_by_its_name_alone_is_told_to_who_would_hide_it_elsewhere(redactor: Redactor) -> None:
    """What has a form of its own is found everywhere anyway; a plain word would be missed everywhere."""
    learnt: list[str] = []
    redactor.value(
        {
            "db": {"password": "hunter2-x77"},
            "env": f"DB_PASSWORD=Tr0ub4dor&37\nTOKEN={TOKEN}\n",
            "m": "PASSWORD=wordpress",
        },
        learn=learnt.append,
    )
    redactor.text("postgres://app:falcon!quartz@db/app", learn=learnt.append)
    assert sorted(learnt) == ["Tr0ub4dor&37", "falcon!quartz", "hunter2-x77"]


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("T0p$ecret84xQ", True),
        ("  'T0p$ecret84xQ' ;", True),
        ("     1\tT0p$ecret84xQ", True),
        ("all is well here", False),
        ("all is well\nT0p$ecret84xQ\nhere", True),
        ({"stdout": [{"text": "T0p$ecret84xQ"}]}, True),
    ],
)
def test_an_answer_that_its_call_makes_a_secret_is_seen_among_many(answer: object, holds: bool) -> None:
    call = {"tool_input": {"command": "op read op://vault/db/field"}, "tool_response": answer}
    plain = {"tool_input": {"command": "make"}, "tool_response": {"stdout": "built in a second"}}
    redactor = Redactor(b"key")
    assert (redactor.value(call) is not call) is holds
    assert redactor.may_change([[plain], [call], [plain]]) == [False, holds, False]
