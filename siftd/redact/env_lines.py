"""What a file of settings assigns, and which of it is to be known again wherever it turns up.

Understood are lines as dotenv, shell, ini, properties, YAML, TOML and HCL write assignments, JSON as a whole, and the
lines of `.npmrc`, `.netrc` and `.pgpass`. A value is taken when its name means a secret and it is no hole, reference,
path or default, or when it is the password in a URL.

A value that texts hold by chance (a word or two, a number, `python3`) is *plain*: it is found where something is
assigned to a telling name and nowhere else, so that `MYSQL_PASSWORD=wordpress` hides `-pwordpress` and leaves
`/srv/wordpress` alone.

Everything here is linear in the text: quantifiers are bounded, or what they repeat cannot match what follows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from siftd.redact.secret_likelihood import is_plausible_value, looks_generated
from siftd.redact.secret_names import Kind
from siftd.redact.values import LONGEST, SHORTEST, kind_in_settings


class Value(NamedTuple):
    """A secret of a file; a plain one is sought only where something is assigned."""

    text: str
    is_plain: bool


_ASSIGNMENT = re.compile(
    r"^[ \t]*(?:[-{,][ \t]*)?(?:export[ \t]+|set[ \t]+)?(?://[^\s=]{1,256}:)?"
    r"[\"']?(?P<name>[A-Za-z_][\w.-]{0,127})[\"']?[ \t]*(?:=>|:=|[:=])[ \t]*"
    r"(?:\"(?P<double>(?:[^\"\\]|\\.){0,4096})\"|'(?P<single>[^']{0,4096})'|`(?P<back>[^`]{0,4096})`|(?P<bare>[^\r\n]*))",
    re.MULTILINE,
)
_NETRC = re.compile(r"\bpassword[ \t]{1,64}(\S{1,256})")
_PGPASS = re.compile(r"^(?:[^:\s]{1,256}:){4}(.{1,256})$", re.MULTILINE)
_COMMENT = re.compile(r"\s#.*|[,;]\s*$")
_URL_PASSWORD = re.compile(r"://[^\s/@:]{0,128}:([^\s/@]{1,256})@")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}

_HOLE = re.compile(
    r"\$\{[^{}]*\}|\$\([^()]*\)|\$[A-Z_][A-Z0-9_]*|<[^<>]*>|\{\{.*\}\}|%[A-Za-z_]\w*%|\[REDACTED.*|-----.*|"
    r"(?:op|vault|ssm|secretsmanager|file|https?)://.*|(?:arn|vault|ref\+\w+):.*|!\w+ .*|ENC\[.*"
)
"""A value that stands for another one, kept elsewhere. An address is none either; the password in it is."""
_PATH = re.compile(r"(?:~|\.{1,2})?(?:/[\w.@%+-]+)+/?|[A-Za-z]:\\.*|[\w.-]+\.(?:json|ya?ml|pem|key|crt|p12|jks|txt)")
_COMMON_CHARS_MAX = 64
_COMMON = re.compile(
    r"(?i)(?:password|passw0rd|secret|token|admin|root|test|testing|local|localhost|postgres|mysql|redis|user|guest|"
    r"default|dev|development|demo|example|changeme|change[-_]?me|qwerty|letmein|abc|welcome|hello|null|none|true|false)+"
    r"[-_@!.]*[0-9]{0,4}!?|"
    r"[0-9a-f]{7,8}|(?:[\w-]+\.)+[a-z]{2,}(?::[0-9]+)?|[\w-]+:[0-9]+|v?[0-9]+(?:\.[0-9]+)+[\w.-]*|(.{1,4})\1+"
)
"""Values that are no secret: default passwords, hosts, versions, short hashes, a few characters repeated."""
_WORDS = re.compile(r"[A-Za-z]+(?:[-_. /:@][A-Za-z]+)*[.!?]?")
_TECHNICAL = re.compile(
    r"(?i)(?:python|ruby|node|nodejs|java|php|perl|go|rust|ubuntu|debian|alpine|centos|fedora|linux|windows|win|mac|"
    r"sha|md|base|utf|iso|ipv|http|tls|ssl|oauth|int|uint|float|amd|arm|x|es|vue|web|angular|mysql|postgres|pg|redis|"
    r"db|app|api|version|release|stage|env|test|line|page|item|step|part|node|host|port|server|client|user)"
    r"[-_.]?[0-9][0-9._-]{0,7}"
)
_PHRASE_WORDS, _PHRASE_CHARS = 4, 16
"""Words enough that they stand together in no text by chance."""
_WORD_CHARS_MAX = 20
_NUMBER_DIGITS = 15


def secret_values(text: str, name: str = "") -> set[Value]:
    """Return the values to be known again in a file of that name."""
    values: set[Value] = set()
    for assigned, value in read_assignments(text, name):
        for match in _URL_PASSWORD.finditer(value):
            values.update(_taken("password", each) for each in (match[1], unquote(match[1])))
        kind = kind_in_settings(assigned)
        if kind is not None:
            values.update(_taken(kind, line.strip()) for line in value.splitlines())
    return values - {_NOTHING}


def read_assignments(text: str, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield (name, value) of every assignment in a file; a double-quoted value as it stands and as it is meant."""
    if name.endswith(("netrc", "authinfo")):
        yield from (("password", match[1]) for match in _NETRC.finditer(text))
        return
    if name.endswith("pgpass"):
        yield from (("password", _ESCAPE.sub(r"\1", match[1])) for match in _PGPASS.finditer(text))
        return
    if name.endswith((".json", ".tfstate")):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            pass  # cut short, or with comments: its lines are read
        else:
            yield from _iter_json(document)
            return
    for match in _ASSIGNMENT.finditer(text):
        bare = match["bare"]
        if bare is not None:
            yield match["name"], _COMMENT.sub("", bare).strip()
            continue
        quoted = match["double"] or match["single"] or match["back"] or ""
        yield match["name"], quoted
        if match["double"] and "\\" in quoted:
            yield match["name"], _ESCAPE.sub(lambda escaped: _ESCAPED.get(escaped[1], escaped[1]), quoted)


def _iter_json(document: object) -> Iterator[tuple[str, str]]:
    """Yield every text in a document with its key; one under `value` bears the key above, as Terraform's outputs do."""
    waiting: list[tuple[str, object]] = [("", document)]
    while waiting:
        name, node = waiting.pop()
        if isinstance(node, str):
            yield name, node
        elif isinstance(node, dict):
            waiting += [(name if key in ("value", "Value") else key, each) for key, each in node.items()]
        elif isinstance(node, list):
            waiting += [(name, each) for each in node]


_NOTHING = Value("", True)


def _taken(kind: Kind, value: str) -> Value:
    if not SHORTEST <= len(value) <= LONGEST or _is_nothing(kind, value):
        return _NOTHING
    return Value(value, is_plain(value))


def _is_nothing(kind: Kind, value: str) -> bool:
    if _HOLE.fullmatch(value) or (len(value) <= _COMMON_CHARS_MAX and _COMMON.fullmatch(value)):
        return True
    if _PATH.fullmatch(value) and not looks_generated(value.replace("/", "")):
        return True
    if len(value) == SHORTEST and value.isalpha():
        return True
    return kind == "key" and not is_plausible_value(kind, value)


def is_plain(value: str) -> bool:
    """Whether texts hold such a value by chance."""
    if value.isdigit():
        return len(value) < _NUMBER_DIGITS
    if len(value) <= _COMMON_CHARS_MAX and _TECHNICAL.fullmatch(value):
        return True
    if not _WORDS.fullmatch(value) or looks_generated(value):
        return False
    words = sum(value.count(each) for each in "-_. /:@") + 1
    return len(value) < (_WORD_CHARS_MAX if words == 1 else _PHRASE_CHARS) or 1 < words < _PHRASE_WORDS
