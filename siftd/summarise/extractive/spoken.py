"""A message as what was said in it: sentences, and lists with the words that lead to them.

A list means something by what stands before it: "I'd suggest:" and its first entries are told together, in their order,
or not at all. A heading and the head of a table are nothing that was said; what leads to a block of code tells little.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from siftd.summarise.extractive.text import clip, ends, one_line, sentences

LOOKED_AT = 2_500
"""Characters at either end of a message."""
UNITS_MAX = 40
_ITEMS_MAX = 6
_ITEM_CHARS = 90
_ROOM_MIN = 30
"""What an entry that is cut has at least."""
_CODE_LINES = 3
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_CODE = "\0"
"""Stands where a block of code was."""
_LINK = re.compile(r"\[([^\]\n]{1,200})\]\((?:[^)\n]{1,400})\)")
_ITEM = re.compile(r"([ \t]*)(?:[-*•] |\d{1,2}[.)] |[✅❌⚠✓✗☑]\ufe0f?)[ \t]*(?:[✅❌⚠✓✗☑]\ufe0f?[ \t]*)?")
_HEADING = re.compile(
    r"[ \t]*#{1,6}[ \t]+|[ \t]*[-=_*]{3,}[ \t]*$|[ \t]*\*\*(?:[^*\s.!?:]{1,40}[ \t]*){1,5}\*\*[ \t]*$"
)
"""A bold line is one where it is short and no sentence."""
_TABLE_RULE = re.compile(r"[|:\-\s]*")
_DEEP = 2
"""Columns from which on an entry belongs to the entry before it."""


@dataclass(slots=True)
class Said:
    """One sentence; with `items`, what leads to a list, or nothing where only a heading did."""

    text: str
    items: list[str] = field(default_factory=list)
    leads_to_code: bool = False
    """Then the items are its first lines."""

    def clipped(self, limit: int) -> str:
        """Return it with as many entries of its list as fit, the first one cut where it must be."""
        if not self.items:
            return self.text if len(self.text) <= limit else ""
        text = f"{clip(self.text.rstrip(':'), limit // 2)}: " if self.text else ""
        room = _ITEM_CHARS if len(self.items) > 1 else 2 * _ITEM_CHARS
        entries: list[str] = []
        for item in self.items[:_ITEMS_MAX]:
            entry = clip(item, room)
            entry = entry.rstrip(".;,") if len(self.items) > 1 else entry
            taken = len(text) + sum(len(each) + 2 for each in entries)
            if taken + len(entry) + 2 > limit:
                if not entries and limit - taken >= _ROOM_MIN:
                    entries.append(clip(entry, limit - taken))
                break
            entries.append(entry)
        is_cut = len(entries) < len(self.items) and not entries[-1:][0].endswith("…") if entries else False
        return f"{text}{'; '.join(entries)}{' …' if is_cut else ''}" if entries else ""


def said_in(text: str) -> list[Said]:
    """Return what was said, at most forty things, in their order. Linear in a bounded part of the text."""
    text = ends(text.replace(_CODE, " "), LOOKED_AT, LOOKED_AT)
    blocks: list[list[str]] = []
    if "```" in text:
        blocks = [match[0].split("\n")[1:-1] for match in _FENCE.finditer(text)]
        text = _FENCE.sub(f"\n{_CODE}\n", text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    found: list[Said] = []
    is_open = False
    """Whether an entry would belong to what was said last."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        if line == _CODE:
            block = blocks.pop(0) if blocks else []
            if found and found[-1].text.endswith(":") and not found[-1].items:
                found[-1].leads_to_code = True
                found[-1].items = [one_line(each) for each in block if any(map(str.isalnum, each[:200]))][:_CODE_LINES]
            is_open = False
        elif line.lstrip().startswith("|"):
            after = lines[number + 1] if number + 1 < len(lines) else ""
            is_head = after.lstrip().startswith("|") and _TABLE_RULE.fullmatch(after)
            if not is_head and not _TABLE_RULE.fullmatch(line):
                is_open = _take_item(found, _row(line), is_open=is_open)
        elif _HEADING.match(line):
            found.append(Said(""))  # a list below it stands alone
            is_open = True
        elif match := _ITEM.match(line):
            if len(match[1].expandtabs(4)) < _DEEP or not (found and found[-1].items):
                is_open = _take_item(found, line[match.end() :], is_open=is_open)
        else:
            plain = _without_marks(line).strip()
            found += [Said(one_line(each)) for each in sentences(plain) if any(map(str.isalnum, each[:200]))]
            is_open = bool(found) and found[-1].text.endswith(":")
        if len(found) >= UNITS_MAX:
            break
    return [each for each in found if each.text or each.items]


def _take_item(found: list[Said], text: str, *, is_open: bool) -> bool:
    item = one_line(_without_marks(text))
    if not any(map(str.isalnum, item[:200])):
        return is_open
    if is_open and found:
        found[-1].items.append(item)
    else:
        found.append(Said("", [item]))
    return True


def _without_marks(text: str) -> str:
    return text.replace("**", "").lstrip(" \t>")


def _row(line: str) -> str:
    """Return the cells of a table's row, without a number that only counts."""
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if cells and cells[0].isdigit():
        cells = cells[1:]
    return " — ".join(filter(None, cells))
