"""A command line as data: the programs that it runs one after another, where, and whether its end tells how they ended.

Nothing here runs anything or asks a shell. A line is read once from left to right, up to a few thousand characters;
what a shell would have to work out (substitutions, here-documents, variables) makes it one that is not understood.
"""

from __future__ import annotations

from typing import NamedTuple

LINE_CHARS_MAX = 2_000
WORDS_MAX = 40
_PARTS_MAX = 12
_WORKED_OUT = ("`", "$", "<<", "<(", "\\\n")
_QUOTES = "'\""
_OPERATORS = ("&&", "||", ";", "\n", "|&", "|", "&")
_CUTS_OF_OUTPUT = ("tail", "head", "grep", "egrep", "rg", "sed", "awk", "tee", "cat", "less", "wc", "sort")


class Part(NamedTuple):
    """One program that a line runs."""

    words: tuple[str, ...]
    """As typed, without quotes, redirections of errors and a variable set before it."""
    folder: str | None
    """Where a `cd` before it in the line has gone, as typed; None without one."""
    is_and: bool
    """Whether whatever comes after it runs only when it succeeded, so that the line's success is its own."""
    is_last: bool
    """Whether the line ends as it ends, its pipe aside."""
    cut_by: str
    """The program that cuts what it printed: "tail"; "" for none."""
    has_quotes: bool
    sets_variables: bool
    """Whether a variable is set before it, for it alone."""


def parts_of(line: str) -> list[Part]:
    """Return the programs of a line in order; none of a line that only a shell can understand."""
    text = line.strip()
    if not text or len(text) > LINE_CHARS_MAX or any(each in text for each in _WORKED_OUT):
        return []
    pieces = _split(text)
    if pieces is None:
        return []
    parts: list[Part] = []
    folder: str | None = None
    at = 0
    while at < len(pieces) and len(parts) < _PARTS_MAX:
        words, quotes, after = pieces[at]
        at += 1
        cut = ""
        while after in ("|", "|&") and at < len(pieces):
            cut = cut or (pieces[at][0][0] if pieces[at][0] else "?")
            after = pieces[at][2]
            at += 1
        if words[:1] == ["cd"] and len(words) == 2 and after in ("&&", ";", "\n"):
            folder = words[1]
            continue
        rest = [each[2] for each in pieces[at:]]
        is_and = all(each in ("&&", "") for each in [after, *rest])
        sets = 0
        while sets < len(words) and _is_assignment(words[sets]):
            sets += 1
        if words[sets:]:
            name = cut.rpartition("/")[2]
            parts.append(
                Part(tuple(words[sets:]), folder, is_and, at >= len(pieces) and after == "", name, quotes, sets > 0)
            )
    return parts


def _split(text: str) -> list[tuple[list[str], bool, str]] | None:
    """Return (words, whether one was quoted, the operator behind them) by program; None for what is not understood."""
    pieces: list[tuple[list[str], bool, str]] = []
    words: list[str] = []
    word: list[str] = []
    has_word = quoted = False
    at = 0

    def end_word() -> None:
        nonlocal has_word
        if has_word:
            words.append("".join(word))
            word.clear()
            has_word = False

    while at < len(text):
        char = text[at]
        if char in _QUOTES:
            end = text.find(char, at + 1)
            if end < 0:
                return None
            word.append(text[at + 1 : end])
            has_word = quoted = True
            at = end + 1
            continue
        if char in ">(){}" or (char == "#" and not has_word):
            redirection = _skip_redirection(text, at, "".join(word)) if char == ">" else 0
            if not redirection:
                return None
            word.clear()
            has_word = False
            at = redirection
            continue
        operator = next((each for each in _OPERATORS if text.startswith(each, at)), "")
        if operator:
            end_word()
            if words:
                pieces.append((words, quoted, operator))
            elif operator not in ("\n", ";"):
                return None
            words, quoted = [], False
            at += len(operator)
            continue
        if char.isspace():
            end_word()
        else:
            word.append(char)
            has_word = True
            if len(words) > WORDS_MAX:
                return None
        at += 1
    end_word()
    if words:
        pieces.append((words, quoted, ""))
    elif pieces and pieces[-1][2] in ("\n", ";"):
        pieces[-1] = (*pieces[-1][:2], "")
    return pieces


def _skip_redirection(text: str, at: int, before: str) -> int:
    """Return where the text goes on behind `2>&1` and the like; 0 for output that goes into a file."""
    for form in (">&1", ">/dev/null", "> /dev/null"):
        if text.startswith(form, at) and (before in ("2", "&") or (form == ">&1" and before == "2")):
            return at + len(form)
    return 0


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def cuts_output(program: str) -> bool:
    """Whether a program that a pipe leads to only chooses among what was printed."""
    return program in _CUTS_OF_OUTPUT


def below(folder: str, current: str | None, root: str) -> str | None:
    """Return where a `cd` to a folder leads, as seen from the root; None for elsewhere. "" is the root itself.

    `current` is where it is typed, seen from the root, None where that is elsewhere.
    """
    folder = folder.rstrip("/")
    if folder.startswith("/") or not folder:
        if not root or not (folder == root or folder.startswith(f"{root}/")):
            return None
        return folder[len(root) + 1 :]
    if folder.startswith(("~", "-")) or current is None:
        return None
    names = current.split("/") if current else []
    for name in folder.split("/"):
        if name == "..":
            if not names:
                return None
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    return "/".join(names)
