"""Summaries of what was said: a person's prompt, an agent's words on the way and at the end."""

from __future__ import annotations

import re

from siftd.summarise.contract import Item
from siftd.summarise.extractive.spoken import Said, said_in
from siftd.summarise.extractive.text import (
    SEEN,
    SPOKEN,
    THIN,
    Line,
    bounded,
    clip,
    ends,
    mapping,
    one_line,
    prose,
    sentences,
    string,
)

_LOOKED_AT = 2_500
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_TABLE_ROW = re.compile(r"^[ \t]*\|(?P<cells>[^\n]*)$", re.MULTILINE)
_TABLE_RULE = re.compile(r"[|:\-\s]*")
_MARKS = re.compile(r"\*\*|^[ \t]*(?:#{1,6}|[-*•>]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_LINK = re.compile(r"\[([^\]\n]{1,200})\]\((?:[^)\n]{1,400})\)")
_SYSTEM = re.compile(r"<(system-reminder|ide_\w+|local-command-caveat)>.*?(?:</\1>|\Z)", re.DOTALL)
_TAG = re.compile(r"<(/?)([a-z][\w-]{1,40})>")
_WORD = re.compile(r"[a-z']+")
_DECIDING = frozenset(
    (
        "added", "adds", "because", "broken", "cause", "caused", "changed", "changes", "chose", "committed",
        "created", "creates", "decided", "deployed", "dropped", "failed", "fails", "fix", "fixed", "fixes",
        "found", "implemented", "instead", "issue", "keep", "kept", "merged", "missing", "moved", "needs",
        "now", "opened", "pass", "passed", "passes", "problem", "pushed", "rather", "refactored", "rejected",
        "removed", "removes", "renamed", "replaced", "resolved", "reverted", "since", "switched", "turns",
        "updated", "updates", "verified", "works", "wrong",
    )
)  # fmt: skip
_REASON = re.compile(
    r"\b(?:because|since|so that|in order to|instead of|rather than|otherwise|due to|root cause|the cause|reason"
    r"|decided|chose|on purpose|deliberately|turns out|the (?:real )?(?:problem|issue|bug) (?:is|was)"
    r"|which (?:means|is why)"
    r"|that's why|that is why|weil|damit|parce que|porque)\b|[,;] so |因为|所以|なぜなら|ので",
    re.IGNORECASE,
)
"""What a sentence says that tells why."""
_CONCLUDES = re.compile(
    r"\b(?:recommend(?:ation|ed)?|i(?:'d| would) (?:suggest|go with|call|keep|use)|i suggest|basically|in short"
    r"|(?:short|quick) answer|bottom line|verdict|conclusion|in other words|key (?:insight|change|point|finding)s?"
    r"|root cause|the (?:real |actual |main )?(?:problem|issue|bug|cause|fix|answer|reason|change)\b|to answer your"
    r"|which means|this means|so (?:the|we|you|it|this)\b|turns out|found (?:it|the)|i was wrong|misdiagnos)",
    re.IGNORECASE,
)
"""What a sentence says that concludes."""
_PASSES = re.compile(
    r"(?:all |the )?(?:\d+ )?(?:unit |integration )?(?:tests?|checks|lint(?:ing)?|build)\b.{0,30}\b"
    r"(?:pass(?:es|ed|ing)?|succeed(?:s|ed)|clean|green)\b.{0,40}$",
    re.IGNORECASE,
)
"""A sentence that says what the commands beside it prove."""
_ROOM_MIN = 40
_CONCRETE = "`_/#("
_FILLER = re.compile(
    r"^(?:(?:perfect|great|excellent|done|(?:good|great) (?:question|point|idea)|sure|ok(?:ay)?|yes|no|absolutely"
    r"|exactly|got it|right|alright|success|updated|fixed|you're (?:absolutely )?right)[!.,: ]*$"
    r"|(?:perfect|excellent|great)!? here(?:'s| is| are)\b.{0,80}:$|(?:looking at|let me)\b.{0,90}:$"
    r"|(?:does (?:this|that)|how does (?:this|that))\b.{0,60}\?$|thoughts\?|ready for\b.{0,40}$"
    r"|(?:now,? )?(?:let me|let's|i'll|i will|i can (?:now )?give|i have (?:all|everything|enough)|i need to)\b"
    r"|now i(?: can| have| understand| see|'ll|'ve)\b.{0,80}[.:!]?$|here(?:'s| is| are)\b.{0,60}:$"
    r"|(?:all )?(?:done|set)[.!]$|no response requested"
    r"|what would you like|what(?:'s| is) next|would you like|want me to|shall i|should i|ready to help|anything else"
    r"|(?:summary|overview|changes made|what changed|key changes|next steps?)\b.{0,30}:?$)",
    re.IGNORECASE,
)
_INTERRUPTED = "[Request interrupted by user"


def prompt(item: Item) -> Line:
    """ "Asked: Find out why and fix it."; what a client sends in the place of a prompt is named for what it is."""
    text = string(mapping(item.payload).get("prompt"))
    text = ends(text, _LOOKED_AT, _LOOKED_AT)
    if "<" in text:
        text = _SYSTEM.sub(" ", text)
        if (line := _tagged(text)) is not None:
            return line
    text = text.strip()
    if not text:
        return Line("Asked: (no text)", THIN)
    if text.startswith(_INTERRUPTED):
        return Line("The user interrupted the agent", SEEN)
    if text.startswith("This session is being continued"):
        return Line(f"Continued an earlier conversation: {_continued(text)}", SPOKEN)
    return Line(f"Asked: {_whole(text, 385)}", SEEN)


def text(item: Item) -> Line:
    """What an agent said between its calls, without the announcements of what it does next."""
    said = string(mapping(item.payload).get("text"))
    return Line(informative(said, 390) or "(no text)", THIN if is_filler(said) else SPOKEN)


def is_filler(text: str) -> bool:
    """Whether a text says nothing but what is done next, or that something is done."""
    return all(_FILLER.match(sentence) for sentence in _spoken(text))


def closing(item: Item) -> Line:
    """What an agent said at the end, with the request that it answers: a line of history."""
    text = string(mapping(item.payload).get("last_assistant_message"))
    is_subagent = item.kind == "subagent_end"
    who = "Subagent ended" if is_subagent else "Turn ended"
    request = "" if is_subagent else asked(item.request, 110)
    if not text.strip():
        return Line(f"{who} without closing words" + (f": {request}" if request else ""), THIN)
    if request:
        return Line(f"Asked: {request} → {informative(text, 380 - len(request) - 10)}", SPOKEN)
    return Line(informative(text, 390), SPOKEN)


def is_reason(text: str) -> bool:
    """Whether a sentence tells why."""
    return _REASON.search(text[:400]) is not None


def why(text: str) -> list[str]:
    """Return the sentences of a text that tell why, in their order."""
    return [sentence for sentence in _spoken(text) if _REASON.search(sentence[:400]) and not _FILLER.match(sentence)]


def informative(text: str, limit: int) -> str:
    """Return what says why, and what was done, found or decided, in its order, within the limit."""
    said = [each for each in said_in(text) if each.items or not _FILLER.match(each.text)]
    for each in said:
        if each.items and _FILLER.match(each.text):
            each.text = ""
    ranked = sorted(range(len(said)), key=lambda index: (-_weight(said[index], index), index))
    chosen: dict[int, str] = {}
    left = limit
    for index in ranked:
        if chosen and _weight(said[index], index) < 0:
            break
        if clipped := said[index].clipped(left - 2 if chosen else limit):
            chosen[index] = clipped
            left -= len(clipped) + 2
        elif not chosen:
            chosen[index] = clip(said[index].text or said[index].items[0], limit)
            break
        if left < _ROOM_MIN:
            break
    if not chosen:
        return clip(unmarked(text) or text, limit)
    return clip(prose(chosen[index] for index in sorted(chosen)), limit)


def _weight(said: Said, index: int) -> float:
    """Rank by conclusions, reasons, verbs of doing and deciding, concrete names, and place: what opens tells most."""
    sentence = f"{said.text} {said.items[0]}" if said.items else said.text
    sentence = sentence[:400]
    weight = 2.0 * (not _DECIDING.isdisjoint(_WORD.findall(sentence.lower())))
    weight += 1.5 * (_REASON.search(sentence) is not None)
    weight += 2.0 * (_CONCLUDES.search(said.text[:400]) is not None)
    weight += 0.75 * min(2, sum(mark in sentence for mark in _CONCRETE))
    weight += 1.5 if index == 0 else 0.5 if index < 3 else 0.0
    weight -= 2.5 if said.leads_to_code else 1.5 if not said.items and sentence.endswith(("?", ":")) else 0.0
    weight -= 0.5 * (said.text == "")  # a list that nothing leads to
    return weight - 2.0 * (_PASSES.match(sentence) is not None) - (0.5 if len(sentence) < 12 else 0.0)


def _spoken(text: str) -> list[str]:
    """Return the sentences of a message without fences, tables and marks, at most thirty of them."""
    found: list[str] = []
    for line in unmarked(text, keep_lines=True).split("\n"):
        if line.strip():
            found += [
                one_line(sentence) for sentence in sentences(line.strip()) if any(map(str.isalnum, sentence[:200]))
            ]
        if len(found) >= 30:
            break
    return found[:30]


def unmarked(text: str, *, keep_lines: bool = False) -> str:
    """Return the ends of a text without fences, links and marks of Markdown, a table as lines."""
    text = without_marks(ends(text, _LOOKED_AT, _LOOKED_AT))
    return text if keep_lines else one_line(text)


def without_marks(text: str) -> str:
    """Return the lines of a whole text without fences, links and marks of Markdown, a table as lines."""
    if "```" in text:
        text = _FENCE.sub("\n", text)
    if "|" in text:
        text = _TABLE_ROW.sub(_row, text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    return _MARKS.sub("", text)


def _row(match: re.Match[str]) -> str:
    """Return a table's row as a line; the rule below its head as none."""
    cells = match["cells"]
    if _TABLE_RULE.fullmatch(cells):
        return ""
    return " — ".join(filter(None, (cell.strip() for cell in cells.split("|"))))


def _whole(text: str, limit: int) -> str:
    """Return a text, or its first sentences and its last one: questions stand at either end."""
    line = one_line(text)
    if len(line) <= limit and len(text) < 2_000:
        return line
    tail = one_line(text[-600:])
    last = sentences(tail)[-1] if tail else ""
    if 12 <= len(last) <= 110 and last != tail:
        return f"{clip(line, limit - len(last) - 1)} {last}"
    return clip(line, limit)


def asked(request: str | None, limit: int) -> str:
    """Return a request's words; "" for what a client sends in a request's place."""
    if not request or request.lstrip().startswith(("<", _INTERRUPTED, "This session is being continued")):
        return ""
    return clip(_SYSTEM.sub(" ", request[:_LOOKED_AT]), limit)


def _continued(text: str) -> str:
    """Return what a compacted conversation was about: the request it names, else its first words."""
    for marker in ("Primary Request and Intent:", "Initial Request", "Primary Request"):
        place = text.find(marker)
        if place >= 0:
            return clip(unmarked(text[place + len(marker) : place + len(marker) + 1_200]).lstrip("*: "), 340)
    return clip(unmarked(text[text.find("\n") + 1 :]), 340)


def _tagged(text: str) -> Line | None:
    """Read the forms in which a client reports its own doings as prompts; None for a person's words."""
    parts = _parts(text)
    if "command-name" in parts:
        return Line(f"Ran {clip(parts['command-name'], 80)} {clip(parts.get('command-args', ''), 280)}".rstrip(), SEEN)
    if "bash-input" in parts:
        return Line(f"The user ran `{clip(parts['bash-input'], 200)}`", SEEN)
    if "task-notification" in parts or "task-id" in parts:
        about = parts.get("summary") or parts.get("status", "")
        result = informative(parts["result"], 250) if parts.get("result") else ""
        return Line(f"Notified: {clip(about, 200) or 'a task changed'}" + (f" — {result}" if result else ""), SEEN)
    for tag, what in (
        ("bash-stdout", "printed"),
        ("local-command-stdout", "printed"),
        ("bash-stderr", "printed as errors"),
    ):
        if tag in parts:
            shown = clip(bounded(parts[tag] or parts.get("bash-stderr", "")), 300)
            return Line(
                f"The user's command {what}: {shown}" if shown else "The user's command printed nothing",
                SEEN if shown else THIN,
            )
    return None


def _parts(text: str) -> dict[str, str]:
    """Return the text inside each tag of the beginning, outermost first; an unclosed one runs to the end."""
    found: dict[str, str] = {}
    for match in list(_TAG.finditer(text[:_LOOKED_AT]))[:40]:
        slash, tag = match.groups()
        if not slash and tag not in found:
            end = text.find(f"</{tag}>", match.end())
            found[tag] = text[match.end() : end if end >= 0 else len(text)].strip()
    return found if text.lstrip().startswith("<") else {}
