"""Facts in our own words: what ran and how it ended, which file, what a conclusion is; never what any of them said.

An event's words may be anybody's: a failing script prints what its author likes, a page says what the user decided.
What is told unasked is therefore put together here, of names and numbers. A name is cut where it holds more than
letters, digits and `._/-`; of a command stay its first words, its options and what looks like a path, never what it
quotes. What can still be spelled with hyphens is a name, and stands where a name is expected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from siftd.harmless import visible
from siftd.store.summaries import RawEvent
from siftd.summarise.extractive import shell
from siftd.summarise.extractive.text import relative

NAME_CHARS_MAX = 80
_COMMAND_CHARS_MAX = 70
_WORDS_MAX = 7
_PLAIN_WORDS_MAX = 3
"""Words of a command that are neither an option nor a path: `docker compose up`. More of them are a sentence."""
_WORD_CHARS_MAX = 40
_NAMES_MAX = 3
_ENTERED = re.compile(r"cd [\w./@+~-]{1,200} && ")
_NAME = re.compile(r"[\w./-]+")
_TOKEN = re.compile(r"""(?:[^\s"']|"[^"]*(?:"|$)|'[^']*(?:'|$))+""")
_HARMLESS_WORD = re.compile(r"[\w./:=@+,~-]+")
_OPERATORS = frozenset(("&&", "||", "|", ";", ">", ">>", "<"))
_CONCLUSIONS = {
    "subagent_end": "a subagent's report",
    "assistant_text": "the agent's words on something it had read",
    "compaction": "the client's account of a session",
    "agent": "a subagent's report",
    "ask": "a question to the person",
    "plan": "a plan",
}
"""By an event's kind, a call's by its action."""


def name_of(path: str, cwd: str | None = None) -> str:
    """Return a file's name as seen from its folder, up to the first character that is none of a name's."""
    seen = visible(relative(path, cwd) or path)
    found = _NAME.match(seen)
    name = found[0] if found else ""
    cut = "…" if len(name) < len(seen) else ""
    return f"{name[:NAME_CHARS_MAX]}{cut or ('…' if len(name) > NAME_CHARS_MAX else '')}"


def command_words(command: str, *, with_folder: bool = False) -> str:
    """Return what a command runs: program, options, paths; `…` for what it quotes or says.

    It is told without the plumbing around it; `with_folder` keeps a leading `cd`.
    """
    words: list[str] = []
    plain = 0
    shown = shell.bare(command)
    if with_folder and (entered := _ENTERED.match(command)):
        shown = f"{entered[0]}{shown}"
    for token in _TOKEN.findall(visible(shown))[: 4 * _WORDS_MAX]:
        if token.startswith("#") or len(words) >= _WORDS_MAX:
            words.append("…")
            break
        is_plain = token.isalpha()
        plain += is_plain
        bare = token.rstrip(";")
        is_shown = bare in _OPERATORS or (
            _HARMLESS_WORD.fullmatch(bare) and (not is_plain or plain <= _PLAIN_WORDS_MAX)
        )
        word = bare[:_WORD_CHARS_MAX] + token[len(bare) :][:1] if is_shown else "…"
        if word != "…" or words[-1:] != ["…"]:
            words.append(word)
    text = " ".join(words)
    return text if len(text) <= _COMMAND_CHARS_MAX else f"{text[: _COMMAND_CHARS_MAX - 1].rstrip('…')}…"


def fact_of(event: RawEvent) -> str:
    """Return what an event is that concludes something, without a word of what anybody said in it."""
    return _CONCLUSIONS.get(event.action or event.kind, f"a call of {name_of(event.tool)}")


def changed_files(names: Sequence[tuple[str, str]], cwd: str | None) -> str:
    """Return the files, of (action, path), that a story changed, the last ones first."""
    changed = [name_of(path, cwd) for action, path in reversed(names) if action == "edit"]
    shown = list(dict.fromkeys(changed))
    more = f" and {len(shown) - _NAMES_MAX} more" if len(shown) > _NAMES_MAX else ""
    return f"changed {', '.join(shown[:_NAMES_MAX])}{more}" if shown else ""
