"""What can be a fact that somebody keeps on purpose."""

from __future__ import annotations

import re

from siftd.capture.admission import LAST_TS, NAME_CHARS_MAX
from siftd.errors import RequestInvalid
from siftd.facts.model import CATEGORIES
from siftd.redact.spans import PLACEHOLDER
from siftd.store.fact_changes import TAG_CHARS_MAX, TAGS_MAX, TEXT_CHARS_MAX
from siftd.wire.requests import Remember

_PLACEHOLDER = re.compile(PLACEHOLDER)


def says_something(text: str) -> bool:
    """Whether anything but placeholders is left of a redacted text."""
    return re.search(r"\w", _PLACEHOLDER.sub("", text)) is not None


def check_says_something(text: str) -> None:
    """Raise RequestInvalid for a redacted text in which nothing but placeholders is left."""
    if not says_something(text):
        raise RequestInvalid("nothing but a secret is in the text", hint="say what it is for, without its value")


def cleaned(text: str) -> str:
    """Return a memory's text as it is kept."""
    return text.strip().replace("\x00", "\ufffd")


def cleaned_tags(tags: list[str]) -> list[str]:
    """Return tags as they are kept: each once."""
    return list(dict.fromkeys(tag.strip() for tag in tags))


def check(request: Remember) -> None:
    """Raise RequestInvalid, with the remedy, for what cannot be a fact."""
    if not request.text.strip():
        raise RequestInvalid("the text is empty", hint="say in a sentence what is to be remembered")
    if len(request.text) > TEXT_CHARS_MAX:
        raise RequestInvalid(
            f"the text has {len(request.text):,} characters, more than {TEXT_CHARS_MAX:,}",
            hint="keep the statement, and name the file that has the rest",
        )
    if request.type not in CATEGORIES:
        raise RequestInvalid("there is no such type of memory", hint=f"one of {', '.join(CATEGORIES)}")
    if not request.project:
        raise RequestInvalid(
            "memories for every project are not kept by a project's daemon",
            hint="`mem remember --global` asks the daemon that keeps them",
        )
    if len(request.tags) > TAGS_MAX or any(not 0 < len(tag.strip()) <= TAG_CHARS_MAX for tag in request.tags):
        raise RequestInvalid(f"a tag is empty or long, or there are more than {TAGS_MAX}", hint="use short words")
    if not 1 <= request.importance <= 5:
        raise RequestInvalid("importance is a whole number from 1 to 5")
    if request.confidence is not None and not 0 <= request.confidence <= 1:
        raise RequestInvalid("confidence is a number from 0 to 1")
    check_label(request.label)
    if len(request.session_id or "") > NAME_CHARS_MAX or len(request.source) > NAME_CHARS_MAX:
        raise RequestInvalid("a session id or source is longer than 256 characters")
    times = [moment for moment in (request.valid_from, request.valid_until) if moment is not None]
    if any(not 0 <= moment <= LAST_TS for moment in times):
        raise RequestInvalid("a moment is before 1970 or after 9999", hint="milliseconds since 1970 are wanted")
    if len(times) == 2 and times[0] >= times[1]:
        raise RequestInvalid("`until` is not later than `from`", hint="`until` is later than `from`")


def check_label(label: str | None) -> None:
    """Raise RequestInvalid for what cannot be a label."""
    if label is not None and (not label.strip() or len(label) > NAME_CHARS_MAX):
        raise RequestInvalid(f"a label is empty or longer than {NAME_CHARS_MAX} characters", hint="use a short name")
