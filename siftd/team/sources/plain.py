"""Plain text of what another program holds as Markdown, and white space in one form. Doing it twice changes nothing.

    ## Steps            Steps
    * **open** [it](u)  - open it
    ```                     code is indented by four spaces, and kept as it is
    |---|---|           (gone: rules, table lines, comments, tags of HTML)

Code within a line keeps its backticks and what they hold. Markup that is nested in markup is taken out pass by pass;
what is left after PASSES of them was made to last, and loses the characters that markup is made of. So time is linear
in the text, whatever it is.
"""

from __future__ import annotations

import re

from siftd.normal_forms import normalized

PASSES = 6
"""Nobody nests deeper. Arbitrary."""
CODE = "    "

_LINE_ENDS = re.compile(r"\r\n?|[\u2028\u2029\x0b\x0c\x85]")
_UNSEEN = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Controls (PostgreSQL keeps no NUL), characters of no width that part a word, and those that turn its order around."""
_BLANKS = re.compile(r"[^\S\n]+")
_EMPTY_LINES = re.compile(r"\n{3,}")
_FENCE = re.compile(r" {0,3}(`{3,}+|~{3,}+)[^`]*+$")
_HEADING = re.compile(r"#{1,6}[ \t]+")
_HEADING_END = re.compile(r"[ \t]#+$")
_QUOTED = re.compile(r"(?:>[ \t]?)+")
_BULLET = re.compile(r"[*+][ \t]+")
_CODE_SPAN = re.compile(r"(`{1,3})(?!`)[^`\n]+\1(?!`)")
_SPAN_OR_COMMENT = re.compile(_CODE_SPAN.pattern + "|<!--")
_LINKED = re.compile(r"!?\[([^\[\]\n]*+)\]\((<[^<>\n]*+>|[^()\s]*+)(?:[ \t]++\"[^\"\n]*+\")?[ \t]*+\)")
_ADDRESS = re.compile(r"<((?:https?://|mailto:)[^<>\s]*+)>")
_TAG = re.compile(
    r"</?(?:a|b|blockquote|br|center|code|dd|del|details|div|dl|dt|em|font|h[1-6]|hr|i|img|ins|kbd|li|ol|p|picture|pre|q"
    r"|s|samp|small|source|span|strike|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|tt|u|ul|var|video)"
    r"(?:[\s/][^<>\n]*+)?>",
    re.IGNORECASE,
)
_STRONG = re.compile(r"(?<![\w*])(\*{1,3})(?=[^\s*])([^*\n]*+)(?<=[^\s*])\1(?![\w*])")
_STRUCK = re.compile(r"(?<![\w~])~~(?=[^\s~])([^~\n]*+)(?<=[^\s~])~~(?![\w~])")
_MARKUP = str.maketrans("", "", "[]()<>*~`#|=+_!-:")


def plain(markdown: str) -> str:
    """Return what a text in Markdown says, without its markup."""
    text = canonical(markdown)
    for _ in range(PASSES):
        new = canonical(_without_markup(text))
        if new == text:
            return text
        text = new
    return canonical("\n".join(line if line.startswith(CODE) else line.translate(_MARKUP) for line in text.split("\n")))


def canonical(text: str) -> str:
    """Return a text with white space in one form: of lines and words one separator, of indentation what code needs."""
    text = _UNSEEN.sub("", _LINE_ENDS.sub("\n", text))
    text = normalized("NFC", text)
    lines = (_canonical_line(line) for line in text.split("\n"))
    return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip("\n")


def one_line(text: str, chars_max: int) -> str:
    """Return a name or a title: one line of so many characters at most."""
    return " ".join(canonical(text[: chars_max * 4]).split())[:chars_max].strip()


def _canonical_line(line: str) -> str:
    words = line.strip()
    lead = line[: len(line) - len(line.lstrip())].expandtabs(4)
    if len(lead) >= len(CODE):
        return lead.replace("\xa0", " ")[:200] + words if words else ""
    return _BLANKS.sub(" ", words)


def _without_markup(text: str) -> str:
    lines: list[str] = []
    fence = ""
    reader = _Comments(text)
    while (line := reader.next_line(is_code=bool(fence))) is not None:
        mark = _FENCE.match(line)
        if mark and (not fence or (mark[1].startswith(fence) and line.strip() == mark[1])):
            fence = "" if fence else mark[1]
        elif fence:
            lines.append(CODE + line)
        elif line.startswith(CODE):
            lines.append(line)
        else:
            lines.append("" if _is_rule(line) else _prose(line))
    return "\n".join(lines)


class _Comments:
    """The lines of a text without HTML's comments. In code `<!--` begins none, and one that never ends is none."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._last_end = text.rfind("-->")

    def next_line(self, *, is_code: bool) -> str | None:
        """Return the next line, or None behind the last; it goes on where a comment that begins in it has ended."""
        if self._at > len(self._text):
            return None
        pieces: list[str] = []
        end = self._line_end()
        seen = end if is_code or self._text.startswith(CODE, self._at) else self._at
        while opening := _SPAN_OR_COMMENT.search(self._text, seen, end):
            seen = opening.end()
            if opening[0] == "<!--" and seen <= self._last_end:
                pieces.append(self._text[self._at : opening.start()])
                seen = self._at = self._text.index("-->", seen) + 3
                end = end if self._at <= end else self._line_end()
        pieces.append(self._text[self._at : end])
        self._at = end + 1
        return "".join(pieces)

    def _line_end(self) -> int:
        end = self._text.find("\n", self._at)
        return len(self._text) if end < 0 else end


def _is_rule(line: str) -> bool:
    """Whether a line is drawn, not written: a rule, what underlines a heading, the line below a table's head."""
    signs = set(line) - {" "}
    is_drawn = len(signs) == 1 and signs <= set("=-*_") and len(line) > 1
    return (is_drawn and line != "- -") or ("--" in line and signs <= set("|:+-"))


def _prose(line: str) -> str:
    line = _QUOTED.sub("", line, count=1) if line.startswith(">") else line
    if heading := _HEADING.match(line):
        line = _HEADING_END.sub("", line[heading.end() :])
    if bullet := _BULLET.match(line):
        line = "- " + line[bullet.end() :]
    if line.startswith("|"):
        line = line.strip("| ")
    pieces: list[str] = []
    at = 0
    for code in _CODE_SPAN.finditer(line):
        pieces += (_spoken(line[at : code.start()]), code[0])
        at = code.end()
    return "".join(pieces) + _spoken(line[at:])


def _spoken(words: str) -> str:
    words = _LINKED.sub(lambda link: link[1] or link[2].strip("<>"), words)
    words = _ADDRESS.sub(r"\1", words)
    words = _TAG.sub(" ", words)
    words = _STRONG.sub(r"\2", words)
    return _STRUCK.sub(r"\1", words)
