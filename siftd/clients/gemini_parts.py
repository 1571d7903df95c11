"""What Gemini CLI and its forks give their model: contents made of parts, and the text of a command that ended."""

from __future__ import annotations

import re
from typing import Any

from siftd.clients.facts import Answer
from siftd.clients.failed import as_error
from siftd.clients.media import without_media

_UNTRUSTED = ("<untrusted_context>", "</untrusted_context>")
_TRAILER = re.compile(
    r"(?:Error: \(none\)|(?:Exit Code|Signal|Background PIDs|Process Group PGID): (?P<value>.{0,200}))"
)
_TRAILERS_MAX = 6
_NOTHING = ("(empty)", "(none)")


def text_of(content: Any) -> str:
    """Return the text of a content (a text, a part or a list of parts), parts joined as the client joins them."""
    match content:
        case str():
            return content
        case {"text": str(text)}:
            return text
        case {"inlineData": {"mimeType": str(kind), "data": str(data)}}:
            return str(without_media(f"data:{kind[:80]};base64,{data}"))
        case list():
            return "\n".join(text for part in content if (text := text_of(part)))
        case _:
            return ""


def trusted_text(text: str) -> str:
    """Return a result without the tag that the client puts around what others said, and without blank ends."""
    text = text.strip()
    if text.startswith(_UNTRUSTED[0]) and text.endswith(_UNTRUSTED[1]):
        text = text[len(_UNTRUSTED[0]) : -len(_UNTRUSTED[1])].strip("\n")
    return text


def command_answer(text: str, command: Any) -> Answer:
    """Return what came of a command, by the text that the client makes of it: `Output: …`, and behind it lines such as
    `Exit Code: 1`. A status that is not 0, or a signal, is a failure, told as `Exit code 1` and the output."""
    output, answers = _parted(trusted_text(text))
    output = _behind_the_command(output, command)
    status, signal = answers.get("Exit Code", "0"), answers.get("Signal", "")
    if status in ("0", *_NOTHING) and signal in ("", *_NOTHING):
        return Answer({"tool_response": output}, "ok")
    has_status = status not in ("0", *_NOTHING) and status.isdigit()
    return Answer({"error": as_error(output, int(status)) if has_status else f"Signal {signal}\n{output}"}, "failed")


def _parted(text: str) -> tuple[str, dict[str, str]]:
    """Part the text from the lines that the client wrote behind it."""
    answers: dict[str, str] = {}
    for _ in range(_TRAILERS_MAX):
        before, _, line = text.rpartition("\n")
        if not (trailer := _TRAILER.fullmatch(line)):
            break
        answers[line.partition(":")[0]] = trailer["value"] or ""
        text = before
    return text, answers


def _behind_the_command(text: str, command: Any) -> str:
    """Return the output behind `Output: `, and behind the command and its folder where the client repeats them."""
    if isinstance(command, str) and text.startswith(opening := f"Command: {command}\n"):
        folder, found, output = text[len(opening) :].partition("\nOutput: ")
        text = output if found else folder
    else:
        text = text.removeprefix("Output: ")
    return "" if text in _NOTHING else text
