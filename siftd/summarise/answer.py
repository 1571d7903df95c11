"""Reading a model's answer: one JSON object anywhere in it, and whether the words are a summary at all."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from siftd.summarise.extractive.text import one_line

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_MAX_ANSWER_CHARS = 40_000
_MAX_OBJECTS = 40


class Reading(NamedTuple):
    """The summary, or what is wrong with the answer."""

    text: str = ""
    problem: str = ""


def read_answer(answer: str, *, source_is_latin: bool) -> Reading:
    """Return the summary of an answer; a problem names the kind of fault and never quotes."""
    text = _THINKING.sub("", answer[:_MAX_ANSWER_CHARS])
    if not text.strip():
        return Reading(problem="the model gave an empty answer")
    found, summary = _summary_in(text)
    if not found:
        return Reading(problem="the answer holds no JSON object")
    if summary is None:
        return Reading(problem="the answer has not the form asked for")
    return checked_text(summary, source_is_latin=source_is_latin)


def checked_text(summary: str, *, source_is_latin: bool) -> Reading:
    """Return the words of a summary, or what keeps them from being one."""
    summary = one_line(summary)
    if not any(map(str.isalnum, summary)):
        return Reading(problem="the model gave an empty summary")
    if _repeats_itself(summary):
        return Reading(problem="the model repeats itself")
    if source_is_latin and not is_latin(summary):
        return Reading(problem="the answer is in another language")
    return Reading(text=summary)


def read_answers(answer: str) -> dict[int, str]:
    """Return the summaries of an answer for several events, by the number of their event; what is malformed is not."""
    text = _THINKING.sub("", answer[:_MAX_ANSWER_CHARS])
    found: dict[int, str] = {}
    for value in _objects_in(text):
        listed = value.get("summaries") if isinstance(value, dict) else None
        for entry in listed if isinstance(listed, list) else [value]:
            match entry:
                case {"event": int(number), "summary": str(summary)}:
                    found[number] = summary
    return found


def objects_in_answer(answer: str) -> Iterator[Any]:
    """Yield the JSON objects of an answer, whatever stands around them."""
    yield from _objects_in(_THINKING.sub("", answer[:_MAX_ANSWER_CHARS]))


def is_latin(text: str) -> bool:
    """Whether most letters are of the Latin script, as far as its beginning shows."""
    letters = [char for char in text[:4_000] if char.isalpha()]
    return sum(char < "\u0250" for char in letters) * 10 >= len(letters) * 7


def _summary_in(text: str) -> tuple[bool, str | None]:
    """Return whether there is any object, and the summary of the last one that has one."""
    found, summary = False, None
    for value in _objects_in(text):
        found = True
        if isinstance(value, dict) and isinstance(value.get("summary"), str):
            summary = value["summary"]
    return found, summary


def _objects_in(text: str) -> Iterator[Any]:
    """Yield the JSON objects in a text that may hold anything else around them."""
    decoder = json.JSONDecoder()
    place = text.find("{")
    for _ in range(_MAX_OBJECTS):
        if place < 0:
            break
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield value
        place = text.find("{", end)


def _repeats_itself(text: str) -> bool:
    """Whether runs of four words come back again and again: how small models fail."""
    words = text.casefold().split()
    runs = Counter(tuple(words[index : index + 4]) for index in range(len(words) - 3))
    return bool(runs) and max(runs.values()) >= 3 and len(runs) * 2 < len(words)
