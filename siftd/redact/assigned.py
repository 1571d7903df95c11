"""As `checks`, for values that are secrets by what stands around them: a name, a word, a header, a command.

These are weak forms, so every check errs towards leaving text alone, and each is linear in the length of its match.
"""

from __future__ import annotations

import re

from siftd.redact.secret_likelihood import (
    HASH,
    LONGEST_MEASURED,
    digits_in,
    is_grown_together,
    is_mixed,
    is_plausible_value,
    is_spread,
    is_stand_in,
    looks_generated,
)
from siftd.redact.secret_names import kind_of_name, names_keyed_provider, names_provider
from siftd.redact.shape import Shape, shape_of
from siftd.redact.validators import Match


def is_command_password(match: Match) -> bool:
    """Accept the password of `name:password` on a command line, unless it is the word for one."""
    value = match[match.lastindex or 0]
    return not is_stand_in(value) and value.lower() not in _NO_PASSWORDS | {"pass", "pwd", "token", "key", "yyy"}


def is_said_secret(match: Match) -> bool:
    """Accept what follows a telling word in prose, the more readily the more is said.

    A hash or a UUID is a secret where a service is named, the words shout (`SECRET 5f…`) or are two (`access token`).
    """
    value, said = match[1], match.string[match.start() : match.start(1)]
    if not digits_in(value) and not value.isalnum():
        return False
    is_of_provider = _is_of_provider(match, said)
    if is_of_provider and said[:3].isupper() and len(value) >= 16 and value.isalnum():
        return True
    if not is_plausible_value("secret", value, bare=True):
        return False
    if not is_of_provider and len(value) < 16:
        return False
    is_loud = (
        said[:3].isupper()
        or match.string.endswith("define ", 0, match.start())
        or len(_WORDS_SAID.findall(said)) > 1
        or " is" in said
    )
    if HASH.fullmatch(value):
        return is_of_provider or is_loud
    if is_of_provider:
        return digits_in(value) >= 1 and (is_mixed(value) or len(value) >= 20)
    if is_loud:
        return digits_in(value) >= 3 and is_mixed(value) and "." not in value[:-8]
    return said[:3].lower() != "key" and looks_generated(value)


def is_providers_value(match: Match) -> bool:
    """Accept what stands at the name of a service that keys are said of: generated, or a hash that is assigned."""
    if not names_provider(match["said"]):
        return False
    value, is_assigned = match["value"], not match["between"].isspace() and match["between"] != "-"
    if is_stand_in(value) or digits_in(value) < 2 or value.isdigit():
        return False
    if HASH.fullmatch(value):
        return is_assigned or (match["between"].isspace() and "-" not in value)
    is_long = value.isalnum() and len(value) >= 20
    return (
        looks_generated(value) or is_spread(value) or (is_assigned and is_long and is_plausible_value("secret", value))
    )


_WORDS_SAID = re.compile(r"(?i)secret|token|private|access|key|code|api")


def _is_of_provider(match: Match, said: str) -> bool:
    return names_provider(match.string[max(0, match.start() - 24) : match.start()] + said)


def is_other_providers_value(match: Match) -> bool:
    """As `is_providers_value`, where hashes are a service's own business or its name is a word: assigned, no hash."""
    value, is_assigned = match["value"], not match["between"].isspace() and match["between"] != "-"
    return (
        is_assigned
        and value.isalnum()
        and len(value) >= 20
        and digits_in(value) >= 3
        and looks_generated(value)
        and not HASH.fullmatch(value)
        and not is_stand_in(value)
    )


def is_near_service(match: Match) -> bool:
    """Accept a generated value behind a short prefix where its line names a service or speaks of keys."""
    value, string = match[1], match.string
    body = value[match.end("prefix") - match.start(1) :]
    if digits_in(body) < 3 or not looks_generated(body) or HASH.fullmatch(body) or is_stand_in(value):
        return False
    before = string[max(0, match.start() - 80) : match.start()].rpartition("\n")[2]
    after = string[match.end() : match.end() + 40].partition("\n")[0]
    return _SPOKEN_OF.search(before) is not None or names_keyed_provider(f"{before} {after}")


_SPOKEN_OF = re.compile(
    r"(?i)(?<![a-z])(?:api|access|secret|auth|bearer)?[ _-]?(?:key|token|secret|credential)(?![a-z])"
)


def is_literal_password(match: Match) -> bool:
    """Accept any text that the form itself makes a password, words too, unless it stands for one."""
    value = match[match.lastindex or 0]
    return not is_stand_in(value) and not value.startswith(("$", "%", "#{", "@"))


def is_elements_password(match: Match) -> bool:
    """Accept any value of a password's own element or field, words too, save those that stand for one or are a type."""
    value = match[match.lastindex or 0]
    return is_literal_password(match) and value.lower() not in _NO_PASSWORDS and not value.startswith(("{", "xs:"))


def is_asked_for(match: Match) -> bool:
    """Accept what is handed to a program that asks for a password, which the line names before it."""
    before = match.string[max(0, match.start() - 160) : match.start()].rpartition("\n")[2]
    return _ASKS.search(before) is not None and not is_stand_in(match[1])


_ASKS = re.compile(
    r"(?:^|[\s/;&|(\u2192])(?:createuser|htdigest|htpasswd|age|fetchmail|sftp|secret-tool|keyring|wrangler|kinit|su|"
    r"passwd|adduser|smbpasswd|cryptsetup|vncpasswd|docker[ ]secret[ ]create|pass[ ]insert|op[ ]signin|lpass[ ]login|"
    r"bw[ ](?:login|unlock)|npm[ ]login|vercel[ ]env[ ]add|sudo[ ]-S)[ ][^|<]{0,140}$|"
    r"pass(?:word|wd|phrase)?(?:-file|-stdin|_stdin|-fd)?[ =][^|<]{0,40}$"
)


def is_shaped(match: Match) -> bool:
    """Accept what looks like a password by itself."""
    return shape_of(match[1]) >= Shape.TWISTED


def is_routers_password(match: Match) -> bool:
    """Accept any word with digits or signs."""
    return not is_stand_in(match[1]) and (digits_in(match[1]) > 0 or not match[1].isalpha())


def is_typed_word(match: Match) -> bool:
    """Accept a word with digits that is no command."""
    return shape_of(match[1]) >= Shape.WORD


def is_accounts_password(match: Match) -> bool:
    """Accept what stands behind `>` in the line of an account."""
    before = match.string[max(0, match.start() - 160) : match.start()]
    return is_literal_password(match) and _ACCOUNT.search(before) is not None


_ACCOUNT = re.compile(r"(?i)\bsetuser [^\n]{0,120}$|\buser [^\s]{1,60} on\b[^\n]{0,80}$")


def is_long_or_mixed(match: Match) -> bool:
    """Accept what looks like a password or like what a server draws."""
    return is_shaped(match) or is_plausible_value("secret", match[1], bare=True)


def is_signing_key(match: Match) -> bool:
    """Accept what signs: any word with a digit or two words, and no name of an algorithm."""
    value = match[1]
    is_long = len(value) >= 12 and digits_in(value) > 3 and value.isalnum()
    return not is_stand_in(value) and (
        is_long or shape_of(value) >= Shape.WORD or value.count("-") + value.count("_") >= 2
    )


def is_flags_password(match: Match) -> bool:
    """Accept what looks like a password where the line names a user, or begins with the flag."""
    string, start = match.string, match.start()
    if shape_of(match[1]) < Shape.TWISTED or is_stand_in(match[1]):
        return False
    begin = string.rfind("\n", max(0, start - 200), start + 1) + 1
    near = string[begin if begin else max(0, start - 200) : match.end() + 80]
    return _USER_FLAG.search(near) is not None or not string[begin:start].strip()


_USER_FLAG = re.compile(r"(?:^|\s)(?:-u|-U|-l|-D|--?(?:user|username|login|user-name|account))(?:[ =]|$)")


def is_list_of_codes(match: Match) -> bool:
    """Accept codes, of which each holds digits; lines of words are none."""
    lines = [line for line in match[1].splitlines() if line.strip()]
    return all(digits_in(line) >= 3 or looks_generated(line) for line in lines)


def is_mixed_groups(match: Match) -> bool:
    """Accept groups of letters and digits in disorder; words of four letters hold no digits."""
    return digits_in(match[1]) >= 3 and digits_in(match[1]) < len(match[1]) // 2


def is_url_user(match: Match) -> bool:
    """Accept a token in the place of a name in a URL."""
    return looks_generated(match[1]) and digits_in(match[1]) >= 3 and not is_stand_in(match[1])


def is_url_password(match: Match) -> bool:
    """Refuse variables and placeholders in the password of a URL."""
    return not is_stand_in(match[1])


def is_assigned_secret(match: Match) -> bool:
    """Accept a value assigned to a name that means a secret, when it looks like one."""
    kind = kind_of_name(match["name"])
    if kind is None or _is_listed(match):
        return False
    if match["name"].lower() == "pass" and match["bare"]:
        return False  # the word of a test that went well
    quoted = next((match[group] for group in ("double", "single", "back", "escaped") if match[group]), None)
    if quoted is not None:
        between = match.string[match.end("name") : match.start(match.lastgroup or 0)]
        if "," in between and "\n" in between and not digits_in(quoted):
            return False  # the next word of a list
        return is_plausible_value(kind, quoted) or (kind == "password" and _is_near_user(match, quoted))
    bare = match["bare"]
    between = match.string[match.end("name") : match.start("bare")]
    if "," in between and "\n" in between:
        return False  # the next line of a list
    if kind == "password" and _is_configured(match, bare):
        is_word = bare.lower() in _NO_PASSWORDS - {"secret"} or (bare == "secret" and not _is_between_semicolons(match))
        return len(bare) >= 4 and not is_stand_in(bare) and not is_word
    if _CALLED.match(bare):
        return False
    if kind == "password" and _is_given(match) and (is_grown_together(bare) or _is_pin(bare)):
        return True
    return (not _CODE.search(bare) or (digits_in(bare) >= 4 and looks_generated(bare))) and is_plausible_value(
        kind, bare, bare=True
    )


def _is_listed(match: Match) -> bool:
    """Whether the name is itself a value that a comma parts from the next key: `"kind": "api-key", "3f…": …`."""
    after = match.string[match.end("name") : match.end("name") + 3]
    return "," in after and match.string[max(0, match.start() - 4) : match.start()].rstrip(" \"'\\").endswith(":")


def _is_between_semicolons(match: Match) -> bool:
    """Whether it stands in a connection string."""
    return match.string[max(0, match.start() - 1) : match.start()] == ";" and match.string[match.end() :][:1] == ";"


def _is_near_user(match: Match, quoted: str) -> bool:
    """Whether two words in quotes follow a name in quotes: `user = 'ann'` and `password = 'open sesame'`."""
    before = match.string[max(0, match.start() - 80) : match.start()]
    return _TWO_WORDS.fullmatch(quoted) is not None and _USER_BEFORE.search(before) is not None


_TWO_WORDS = re.compile(r"[a-z]{3,16} [a-z]{3,16}")


_USER_BEFORE = re.compile(r"(?i)\b(?:user(?:_?name)?|login)[\"']? ?[:=] ?[\"'][^\"'\n ]{1,40}[\"'][,;]?\s{1,8}$")


def _is_configured(match: Match, bare: str) -> bool:
    """Whether a word without quotes is a value and not code: `DB_PASSWORD=blue`, `Uid=a;Pwd=blue;`."""
    if not bare.isalnum() or match.string[match.start("bare") - 1] != "=":
        return False
    before = match.string[max(0, match.start() - 1) : match.start()]
    return (match["name"].isupper() and "_" in match["name"]) or before == ";" or match.string[match.end() :][:1] == ";"


def _is_given(match: Match) -> bool:
    """Whether it is given to a program: behind an option, in capitals before `=`, among words such as `user=shop`."""
    if match["name"].startswith("-") or match.string.startswith("-", match.start()):
        return True
    if match.string[match.start("bare") - 1] != "=":
        return False
    around = match.string[max(0, match.start() - 1) : match.start()] + match.string[match.end() :][:1]
    return match["name"].isupper() or not around.strip(" \t\n\"'&;")


def _is_pin(bare: str) -> bool:
    """Accept eight digits and more, which are no port, no count and no time."""
    return bare.isdigit() and 8 <= len(bare) <= 12


_NO_PASSWORDS = frozenset(
    ["password", "passwd", "secret", "true", "false", "null", "none", "string", "undefined", "required"]
)


_CODE = re.compile(r"[(){}\[\]]|^[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)+[;,]?$|^[@*&!]|::|->|^\d{1,15}[a-z]{0,2}$")
"""Calls, attribute chains, pointers, plain numbers: what an unquoted value in code is."""


_CALLED = re.compile(r"[A-Za-z_]\w{0,63}(?:\.\w{1,64}){0,4}+\([^()]{0,80}\)")


def is_header_value(match: Match) -> bool:
    """Accept what a header carries, unless it is a word or a variable."""
    return is_plausible_value("secret", match[1], bare=True) and not match[1].startswith(("http", "function"))


def is_cookie(match: Match) -> bool:
    """Accept cookies of which one is generated; a theme and a language are none of our business."""
    values = [part.partition("=")[2].strip().partition(" ")[0] for part in match[1][:LONGEST_MEASURED].split(";")]
    return any(len(value) >= 16 and is_plausible_value("secret", value, bare=True) for value in values)


def is_element_value(match: Match) -> bool:
    """As `is_assigned_secret`, for `<add key="…" value="…"/>`, where a password may be a plain word."""
    kind = kind_of_name(match["name"].rpartition(":")[2])
    value = match[2]
    if kind == "password":
        return len(value) >= 5 and not is_stand_in(value) and value.lower() not in _NO_PASSWORDS
    return kind is not None and is_plausible_value(kind, value)


def is_kubernetes_secret(match: Match) -> bool:
    """Whether the block belongs to a document of kind Secret, which may be said before or after it."""
    before = match.string[max(0, match.start() - 2048) : match.start()].rpartition("\n---")[2]
    after = match.string[match.end() : match.end() + 1024].partition("\n---")[0]
    return _KIND_SECRET.search(before + " " + match[0] + " " + after) is not None and "[REDACTED:" not in match[1]


_KIND_SECRET = re.compile(r"(?i)(?:\b|\\n)kind[\"']?:[ ]?[\"']?secret\b")
