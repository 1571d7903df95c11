"""What a call says about its answer: a command that prints a secret makes its bare output one."""

# ruff: noqa: E501  (tables and expressions are read by their rows)

from __future__ import annotations

import re
from enum import IntEnum
from functools import cache
from typing import Any

from siftd.redact.prefilter import Prefilter, open_prefilter, prefilter_bytes
from siftd.redact.secret_likelihood import is_stand_in
from siftd.redact.secret_words import names_in
from siftd.redact.shape import Shape, is_assigned, is_drawn, shape_of
from siftd.redact.spans import Found

LONGEST_COMMAND = 4_096
MOST_LINES = 400
LONGEST_OUTPUT = 65_536


ANSWERS = frozenset(["tool_response", "error"])
"""Keys beside a tool's input that hold its answer."""
OUTPUTS = frozenset(["stdout", "stderr", "output", "content", "text", "result", "file", "error", "aggregated_output"])
"""Keys of an answer that hold what a command printed or a file says."""


class Expectation(IntEnum):
    """How surely a command's output is a secret."""

    NOTHING = 0
    NAMED = 1
    """It names one: what looks like a password goes."""
    PRINTED = 2
    """It is there to print one: every word alone on its line goes."""


_PRINTS = (
    r"(?i:\bbase64[ ](?:-d\b|-D\b|--decode)|\bopenssl[ ](?:rand|passwd|pkey|genrsa|ecparam)|\bop[ ](?:read|item[ ]get|get)\b|\b(?:pass|gopass|passage)[ ]+(?:show[ ]|-c[ ])?[\w-]+[/\w]|"
    r"\bprintenv[ ]+\w|\bvault[ ](?:kv[ ]get|read|token|print|write[ ]-field)|\bbao[ ]kv[ ]get|\bkubectl[ ][^|\n]{0,200}(?:secrets?\b|create[ ]token)[^|\n]{0,200}(?:jsonpath|go-template|-o[ ]?custom|base64)|\bkubectl[ ]create[ ]token|"
    r"\bsecretsmanager[ ]get-(?:secret-value|random-password)|\bssm[ ]get-parameters?\b|\becr[ ]get-(?:login-password|authorization)|\bcodeartifact[ ]get-auth|\beks[ ]get-token|\bsts[ ]|\brds[ ]generate-db-auth|"
    r"\bgcloud[ ](?:secrets[ ]versions[ ]access|auth[ ](?:print|application-default[ ]print))|\baz[ ](?:keyvault[ ]secret[ ]show|account[ ]get-access-token|acr[ ](?:login[ ]--expose|credential)|storage[ ]account[ ]keys|[a-z ]{3,40}keys[ ]list)|"
    r"\bgh[ ]auth[ ](?:token|status[ ][^|\n]{0,40}-t)|\bglab[ ]auth|\bheroku[ ](?:config:get|auth:token|authorizations:create)|\bdoppler[ ](?:secrets[ ]get|configure[ ]get)|\b(?:bw|rbw|lpass|keepassxc-cli|dcli|bws)[ ](?:get|show|item|clip|password)|"
    r"\bsecurity[ ]find-(?:generic|internet)-password|\bsecret-tool[ ]lookup|\bkeyring[ ]get|\bpwgen\b|\bapg\b|\bmkpasswd\b|\bmakepasswd\b|\bxkcdpass\b|\bdiceware\b|\buuidgen\b[^\n]{0,60}(?:secret|pass)|/dev/u?random|\bsecrets\.(?:token_|choice)|"
    r"\bsecureRandom|\brandomBytes\(|\bsops[ ](?:-d|--decrypt|exec|decrypt)|\bansible-vault[ ](?:view|decrypt)|\bgpg2?[ ][^|\n]{0,120}(?:-d\b|--decrypt)|\bage[ ][^|\n]{0,80}-d\b|\bwg[ ](?:genkey|genpsk)|\bhtpasswd[ ]-[a-zA-Z]{0,4}n|"
    r"\bcaddy[ ]hash-password|\brails[ ]secret|\brake[ ]secret|\bmix[ ]phx\.gen\.secret|key:generate[ ]--show|\bargocd[ ](?:admin[ ]initial-password|account[ ]generate-token)|\bterraform[ ]output[ ]-raw|\btofu[ ]output[ ]-raw|\bpulumi[ ]config[ ]get|"
    r"\bflyctl?[ ]auth[ ]token|\bfly[ ]tokens|\bnpm[ ]token|\bwp[ ]config[ ]get|\bcredential[ ]fill|\bgenerate_password|\bget_random_secret_key|\bconfig[ ]get[ ](?:requirepass|masterauth)|\bshred\b|\bnetsh[ ]wlan[^\n]{0,80}key=clear|"
    r"\btailscale[ ][^|\n]{0,40}key|\bdocker[ ]swarm[ ]join-token|\bk3s[ ]token|\bkubeadm[ ]token|\bconsul[ ]acl|\bnomad[ ]acl|\bstep[ ](?:crypto|ca[ ]token)|\bminisign\b|\bssh-keygen\b[^\n]{0,80}-y\b|\bjwt[ ]encode)"
)
_FILE = re.compile(
    r"(?i)(?:^|[/\s'\"])[\w.@-]{0,60}(?:passw(?:or)?d|passphrase|\.pass\b|secret|token|credential|api[_-]?key|apikey|pgpass|vault[_-]?pass|master\.key|\.key\b|\.pwd\b)[\w.@-]{0,40}(?=[\s'\"|;&)]|$)"
)
_CODE_FILE = re.compile(
    r"(?i)\.(?:pyi?|[cm]?[jt]sx?|go|rs|java|kt|rb|php|cs|c|h|cc|cpp|hpp|swift|scala|md|rst|html?|css|scss|vue|svelte|ya?ml|json|tf|lock|sql|proto|test|spec|log|ipynb|xml|svg|png)$"
)
_SHOWS = re.compile(
    r"\b(?:cat|less|more|head|tail|bat|tac|type|Get-Content|gc|strings|xxd|cut|awk|sed|tr|xargs|read|<)\b|git[ ](?:diff|show|log[ ]-p)"
)
_SEARCHES = re.compile(
    r"^\s*(?:rg|grep|ag|ack|git[ ]grep|find|fd|ls|tree|wc|stat|rm|mkdir|touch|chmod|git[ ](?:add|commit|checkout|push|status)|pytest|npm[ ](?:test|run)|cargo|go[ ]test)\b"
)
_NUMBERED = re.compile(r"[ \t]*(?:\d{1,6}[\t\u2192:])?[ \t]*[+-]?[ \t]*")
_ENDS = "\"'`,; \t\r"


def expected_of(call: Any) -> Expectation:
    """Return what the input of a tool's call tells of its output."""
    if not isinstance(call, dict):
        return Expectation.NOTHING
    command = call.get("command") or call.get("cmd") or call.get("script")
    if isinstance(command, list):
        command = " ".join(word for word in command if isinstance(word, str))
    if isinstance(command, str):
        return _expected_of_command(command[:LONGEST_COMMAND])
    path = call.get("file_path") or call.get("path") or call.get("absolute_path")
    if isinstance(path, str) and _is_secrets_file(path):
        return Expectation.PRINTED
    return Expectation.NOTHING


@cache
def _prints() -> Prefilter:
    """Return the automaton of `_PRINTS`: of hundred words that may begin anywhere, an engine that goes back tries each."""
    return open_prefilter([_PRINTS])


def _expected_of_command(command: str) -> Expectation:
    if _prints().search(prefilter_bytes(command)) is not None:
        return Expectation.PRINTED
    if _SHOWS.search(command) and any(_is_secrets_file(match[0].strip()) for match in _FILE.finditer(command)):
        return Expectation.PRINTED
    if _SEARCHES.match(command):
        return Expectation.NOTHING
    return Expectation.NAMED if next(names_in(command, 0, len(command)), None) is not None else Expectation.NOTHING


def _is_secrets_file(path: str) -> bool:
    return _CODE_FILE.search(path.strip("'\"")) is None and _FILE.search(path) is not None


def secrets_printed(text: str, expected: Expectation) -> list[Found]:
    """Return what of an answer's text is a secret because of what was asked for, or stands there alone."""
    found = secrets_of_output(text, expected) if expected else []
    if not found and is_password_alone(text):
        begin = len(text) - len(text.lstrip())
        found = [(begin, begin + len(text.strip()), "password")]
    return found


def may_be_secret(text: str) -> bool:
    """Whether a word may stand alone on a line of an answer's text; one line of several words holds nothing."""
    if "\n" in text:
        return True
    line = text[:LONGEST_OUTPUT]
    return " " not in line[_NUMBERED.match(line).end() :].strip(_ENDS)  # type: ignore[union-attr]  # as below


def secrets_of_output(text: str, expected: Expectation) -> list[Found]:
    """Return the words that stand alone on their lines and are secrets, as the command lets expect."""
    found: list[Found] = []
    position = 0
    for line in text[:LONGEST_OUTPUT].split("\n", MOST_LINES)[:MOST_LINES]:
        begin = position + _NUMBERED.match(line).end()  # type: ignore[union-attr]  # it matches nothing, too
        word = text[begin : position + len(line)].rstrip(_ENDS)
        begin += len(word) - len(word := word.lstrip(_ENDS))
        position += len(line) + 1
        word = text[begin : begin + len(word)]
        if word and " " not in word and "[REDACTED" not in word and _is_secret(word, expected):
            found.append((begin, begin + len(word), "password"))
    return found


def _is_secret(word: str, expected: Expectation) -> bool:
    if is_stand_in(word):
        return False
    if expected is Expectation.PRINTED:
        return is_assigned(word, "password")
    if expected is Expectation.NAMED:
        return shape_of(word) >= Shape.TWISTED or is_drawn(word)
    return False


def is_password_alone(text: str) -> bool:
    """Whether an output is one word that looks like a password: letters of both cases and digits, no id, no name."""
    word = text.strip()
    if not 10 <= len(word) <= 128 or any(map(str.isspace, word)) or "[REDACTED" in word:
        return False
    if not any(map(str.isupper, word)) or not any(map(str.islower, word)):
        return False
    return (shape_of(word) >= Shape.TWISTED or is_drawn(word)) and _ID.fullmatch(word) is None


_ID = re.compile(
    r"[A-Za-z]{1,12}[_-][A-Za-z0-9_-]{10,}|[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*\.[A-Za-z0-9.-]+|[\w-]+(?:/[\w.-]+)+|.*[^A-Za-z0-9!@#$%^&*?~+/._=-].*|.*=[^=].*"
)
