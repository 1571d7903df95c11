"""What a person typed behind `/mem`, as the arguments of `mem`.

The text is anything: an apostrophe, a `$(…)`, a pasted paragraph. Only these verbs and their own options mean
something; whatever else stands behind `search` is the question, word for word, behind `remember` the statement.
Nobody can be asked here: `forget` only says what it would take, unless `--yes` is typed.
"""

from __future__ import annotations

import re

from siftd.errors import RequestInvalid
from siftd.ids import is_id, parse_document

USAGE = "/mem drain [N] | info | backfill [PATH…] | search WORDS | brief | remember WORDS | forget ID… [--yes]"

_WORD = re.compile(r'"[^"]*"|\S+')
_SEARCH_OPTIONS = frozenset(
    {"-k", "--tool", "--session", "--client", "--file", "--since", "--until", "--kind", "--symbol"}
)
_REMEMBER_OPTIONS = frozenset({"--type", "--tag", "--importance", "--supersedes"})
_REMEMBER_FLAGS = frozenset({"--pin"})
_FORGET_OPTIONS = frozenset({"--file", "--session"})
_FORGET_FLAGS = frozenset({"--yes"})
_SEARCH_FLAGS = frozenset({"--superseded"})
_BACKFILL_FLAGS = frozenset({"--any-workspace"})


def parse_slash(text: str) -> list[str]:
    """Return the arguments for `mem`; nothing typed means `info`. Raises RequestInvalid with the usage."""
    verb, rest = (*text.split(None, 1), "", "")[:2]
    match verb:
        case "" | "info" if not rest:
            return ["info"]
        case "drain" if re.fullmatch(r"[0-9]*", rest.strip()):
            return ["drain", *rest.split()]
        case "backfill":
            flags, paths = _split(rest, frozenset(), _BACKFILL_FLAGS)
            return ["backfill", *flags, *(["--", *map(_unquote, paths)] if paths else [])]
        case "search" if rest:
            options, words = _split(rest, _SEARCH_OPTIONS, _SEARCH_FLAGS)
            return ["search", *options, "--", " ".join(words)]
        case "brief" if not rest:
            return ["brief"]
        case "remember" if rest:
            options, words = _split(rest, _REMEMBER_OPTIONS, _REMEMBER_FLAGS)
            return ["remember", *options, "--", " ".join(words)]
        case "forget" if rest:
            options, words = _split(rest, _FORGET_OPTIONS, _FORGET_FLAGS)
            if all(is_id(word) or parse_document(word) is not None for word in words):
                return ["forget", *options, *([] if "--yes" in options else ["--dry-run"]), *words]
            raise RequestInvalid("these are not ids", hint=USAGE)
        case _:
            raise RequestInvalid("this is not a command of /mem", hint=USAGE)


def _split(text: str, options: frozenset[str], flags: frozenset[str]) -> tuple[list[str], list[str]]:
    """Return the known options with their values, and the other words."""
    taken: list[str] = []
    words: list[str] = []
    found = iter(_WORD.finditer(text))
    for match in found:
        word = match.group()
        if word in flags:
            taken.append(word)
        elif word in options and (value := next(found, None)):
            taken += [word, _unquote(value.group())]
        else:
            words.append(word)
    return taken, words


def _unquote(word: str) -> str:
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] == '"' else word
