"""Summaries of a turn and of a session: what was asked, what came of it, and the deeds that prove it.

    Asked: Expired tokens are accepted. → validate_token() rejects them now, because … — changed src/auth.py;
    `pytest -q`: 12 passed; before: `pytest -q` failed (exit 1): 2 failed: test_login; committed: Reject expired tokens

The words are those of the prompt, of the closing text and of the renderers of the turn's events; nothing is concluded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from siftd.summarise.contract import MAX_SUMMARY_CHARS, Item
from siftd.summarise.extractive import files, planning, shell
from siftd.summarise.extractive.other import is_rejection
from siftd.summarise.extractive.text import (
    SEEN,
    SPOKEN,
    THIN,
    Line,
    call_of,
    clip,
    join_within,
    mapping,
    string,
    unique,
)
from siftd.summarise.extractive.words import asked, informative, why

_ASKED_CHARS = 110
_DEEDS_CHARS = 150
_DEEDS_WITH_REASON_CHARS = 100
"""What deeds get at first where the closing tells why: they may have what it leaves. Arbitrary."""
_REASON_CHARS = 140
_CLOSING_CHARS_MIN = 90
"""What is left for a closing at least when a reason is told beside it. Arbitrary, like the others."""
_INFORMATIVE_PROMPT_CHARS = 20
"""Shorter ones ("yes", "go on", "2") tell nothing without the words before them. Arbitrary."""


class _Deeds(NamedTuple):
    """What was done, as far as events prove it."""

    files: list[str]
    commits: list[str]
    verdict: str
    failure: str
    answers: list[str]

    def listed(self, already: str, limit: int) -> str:
        """Say the deeds that `already` does not tell, the most telling first."""
        changed = [name for name in self.files if name.rsplit("/", 1)[-1] not in already]
        commits = [clip(subject, 80) for subject in reversed(self.commits) if subject not in already]
        parts = [
            f"committed: {_fitting(commits, 110)}" if commits else "",
            f"changed {join_within(changed, 90)}" if changed else "",
            clip(self.verdict, 60),
            f"before: {clip(self.failure, 110)}" if self.failure and self.verdict else clip(self.failure, 130),
            f"the user chose {join_within(self.answers, 90, ' and ')}" if self.answers else "",
        ]
        return _fitting(parts, limit)


def turn(item: Item) -> Line:
    """The story of the turn that an event ends."""
    request = asked(item.request or _first_prompt(item.story), _ASKED_CHARS)
    closing = string(mapping(item.payload).get("last_assistant_message"))
    head = f"Asked: {request}" if request else ""
    return _story_line(head, closing, _deeds(item.story), "Turn ended", _reason(item.story, closing))


def session(item: Item) -> Line:
    """The story of a whole session: what it was asked in turn, how the last turn ended, what was changed."""
    prompts = [text for each in item.story if each.kind == "prompt" and (text := asked(_prompt_of(each), 150))]
    closings = [
        string(mapping(each.payload).get("last_assistant_message")) for each in item.story if each.kind == "turn_end"
    ]
    closing = next((text for text in reversed(closings) if text.strip()), "")
    head = (
        f"Session of {len(prompts)} prompts: {_chosen(prompts)}" if len(prompts) > 1 else f"Session: {''.join(prompts)}"
    )
    return _story_line(head, closing, _deeds(item.story), "", _reason(item.story, closing))


def _story_line(head: str, closing: str, deeds: _Deeds, otherwise: str, reason: str) -> Line:
    """Join what was asked, what was said at the end, why, and what proves it; `otherwise` where there is neither."""
    already = f"{head} {closing}"[:4_000]
    proof_chars = _DEEDS_WITH_REASON_CHARS if why(closing) else _DEEDS_CHARS
    room = MAX_SUMMARY_CHARS - len(head) - len(deeds.listed(already, proof_chars)) - 8
    if reason and (not closing.strip() or room - len(reason) < _CLOSING_CHARS_MIN):
        reason = reason if not closing.strip() else ""
    said = informative(closing, room - (len(reason) + 16 if reason else 0)) if closing.strip() else ""
    if reason:
        said = f"{said} — on the way: {reason}" if said else reason
    is_proved = room < MAX_SUMMARY_CHARS - len(head) - 8
    text = " → ".join(filter(None, (head, said or ("" if is_proved else otherwise))))
    proof = deeds.listed(already, MAX_SUMMARY_CHARS - len(text) - 4)
    joined = " — ".join(filter(None, (text, proof)))
    return Line(joined or otherwise, SEEN if proof and said else SPOKEN if proof or said else THIN)


def _reason(story: Sequence[Item], closing: str) -> str:
    """Return the last reason that the agent gave on its way, where its closing words give none."""
    if why(closing):
        return ""
    for item in reversed(story):
        if item.kind == "assistant_text":
            text = string(mapping(item.payload).get("text"))
            if found := [each for each in why(text) if not each.endswith(":")]:  # that tells what is done next
                return clip(found[-1], _REASON_CHARS)
    return ""


def _deeds(story: Sequence[Item]) -> _Deeds:
    changed: list[str] = []
    commits: list[str] = []
    answers: list[str] = []
    verdict = failure = ""
    for item in story:
        if item.action == "edit":
            call = call_of(item)
            if item.outcome != "failed" and call.error is None:
                changed += files.changed_files(call)
            elif is_rejection(call):
                answers.append(f"not to edit {files.file_of(call)}")
        elif item.action == "run":
            ran = shell.deed(call_of(item))
            commits = commits[:-1] if ran.amends else commits
            commits += [ran.commit] if ran.commit else []
            if ran.has_failed:
                failure, verdict = ran.text, ""
            elif ran.is_check:
                verdict = ran.text
        elif item.action == "ask":
            answers += planning.answers(call_of(item))
    refused = {f"not to edit {name}" for name in changed}  # and done after all
    answers = [each for each in answers if each not in refused]
    return _Deeds(unique(changed, 12), unique(commits, 4), verdict, failure, unique(answers, 3))


def _fitting(parts: Sequence[str], limit: int) -> str:
    """Join those that fit, in their order; an ellipsis for each that does not would tell nothing."""
    text = ""
    for part in filter(None, parts):
        if len(text) + len(part) + 2 <= limit:
            text += f"; {part}" if text else part
    return text


def _chosen(prompts: list[str]) -> str:
    """Return the first prompt and as many of the last ones as fit: how it began and where it went."""
    informative = [text for text in prompts if len(text) >= _INFORMATIVE_PROMPT_CHARS and text[0] != "/"] or prompts
    first = clip(informative[0], 100)
    last = join_within((clip(text, 60) for text in unique(reversed(informative[1:]), 2)), 70, " / ")
    return " / … / ".join(filter(None, (first, last.removesuffix(" / …"))))


def _first_prompt(story: Sequence[Item]) -> str | None:
    return next((_prompt_of(each) for each in story if each.kind == "prompt"), None)


def _prompt_of(item: Item) -> str:
    return string(mapping(item.payload).get("prompt"))
