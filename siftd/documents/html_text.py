"""An HTML page as Markdown: its headings, paragraphs, lists, tables and code, without menus, scripts and forms.

A scanner and no parser: a page is somebody else's, and a tree of it has no bound. Tags are found by one pattern that
never goes back, so that time is linear in the page, whatever is unclosed; memory is the page's text.
"""

from __future__ import annotations

import re
from html import unescape

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9:-]{0,30})((?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+'|[\"'])*+)>")
_RAW = ("script", "style", "textarea", "title", "noscript", "template", "iframe")
"""What ends only at its own end tag."""
_LEFT_OUT = frozenset("nav footer svg form button select dialog audio video canvas object head math".split())
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_BLOCKS = frozenset(
    "p div section article main aside header ul ol dl table thead tbody tr figure figcaption blockquote details summary"
    " address fieldset hgroup dd dt li br hr pre body html".split()
)
_SPACE = re.compile(r"\s+")
_MARK = re.compile(r"#{1,6}(?=\s)|(?:`{3}|~{3})")
_FENCE = "````"
"""Longer than those that code shows."""
_ANCHOR_SIGNS = "¶#🔗§"
"""What page makers put behind a heading for a link to it."""
_CHARREF_DIGITS = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{8,});?")
"""A reference to no character; Python refuses to count as far."""


def read_html(page: str) -> tuple[str, str]:
    """Return a page's title and its text in Markdown."""
    scan = _Scan(page, _LEFT_OUT)
    if scan.left_out:  # a menu that never ends would take the page with it
        scan = _Scan(page, frozenset())
    return scan.title, scan.text()


class _Scan:
    def __init__(self, page: str, left_out: frozenset[str]) -> None:
        self.title = ""
        self.left_out = ""
        """The element that is being left out; at the end: one that never ended."""
        self._depth = 0
        self._lines: list[str] = []
        self._line: list[str] = []
        self._lead = ""
        self._fence = False
        self._missing: set[str] = set()
        self._page = page
        self._low = page.lower() if len(page.lower()) == len(page) else page
        self._run(left_out)

    def text(self) -> str:
        """Return the text, with at most one empty line in a row outside of code."""
        return "\n".join(self._lines).strip("\n") + "\n"

    def _run(self, left_out: frozenset[str]) -> None:
        at = 0
        page = self._page
        while at < len(page):
            begin = page.find("<", at)
            if begin < 0:
                begin = len(page)
            self._words(page[at:begin])
            if begin == len(page):
                break
            if page.startswith(("<!", "<?"), begin):
                end = self._find("-->" if page.startswith("<!--", begin) else ">", begin)
                at = len(page) if end < 0 else end
                continue
            tag = _TAG.match(page, begin)
            if tag is None:
                self._words("<")
                at = begin + 1
                continue
            at = tag.end()
            name, is_end = tag[2].lower(), tag[1] == "/"
            if name in _RAW and not is_end:
                at = self._raw(name, at)
            elif self.left_out:
                if name == self.left_out:
                    self._depth += -1 if is_end else 0 if tag[3].endswith("/") else 1
                    self.left_out = name if self._depth else ""
            elif name in left_out and not is_end and not tag[3].endswith("/"):
                self.left_out, self._depth = name, 1
            elif not self.left_out:
                self._tag(name, is_end=is_end)
        self._close_line()
        if self._fence:
            self._lines.append(_FENCE)

    def _find(self, what: str, at: int) -> int:
        """Return where the next one ends, or -1; that there is none is looked for once."""
        if what in self._missing:
            return -1
        found = self._low.find(what, at)
        if found < 0:
            self._missing.add(what)
            return -1
        return found + len(what)

    def _raw(self, name: str, at: int) -> int:
        end = self._find(f"</{name}", at)
        if end < 0:
            return at
        if name == "title" and not self.title:
            self.title = _plain(self._page[at : end - len(name) - 2])
        closed = self._find(">", end)
        return closed if closed >= 0 else end

    def _tag(self, name: str, *, is_end: bool) -> None:
        if name == "pre":
            self._close_line()
            if self._fence == is_end:
                self._lines.append(_FENCE)
                self._fence = not is_end
        elif self._fence:
            if name == "br":
                self._line.append("\n")
        elif name in _HEADINGS:
            self._close_line()
            self._blank()
            self._lead = "" if is_end else _HEADINGS[name] + " "
        elif name in ("td", "th"):
            self._line.append(" | " if not is_end and any(part.strip() for part in self._line) else " ")
        elif name in _BLOCKS:
            self._close_line()
            if name in ("p", "table", "dl", "ul", "ol", "section", "div", "blockquote"):
                self._blank()
            self._lead = "- " if name == "li" and not is_end else ""

    def _words(self, text: str) -> None:
        if text and not self.left_out:
            self._line.append(text)

    def _blank(self) -> None:
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def _close_line(self) -> None:
        text = _unescaped("".join(self._line))
        self._line.clear()
        if self._fence:
            self._lines += text.replace(_FENCE, "~~~~").strip("\n").split("\n")
            return
        text = _SPACE.sub(" ", text).strip()
        if self._lead.startswith("#"):
            text = text.rstrip(_ANCHOR_SIGNS + " ")
        if text:
            if not self._lead and _MARK.match(text):
                text = "\\" + text
            self._lines.append(self._lead + text)
            self._lead = ""


def _unescaped(text: str) -> str:
    return unescape(_CHARREF_DIGITS.sub("\ufffd", text)) if "&" in text else text


def _plain(text: str) -> str:
    return _SPACE.sub(" ", _unescaped(text)).strip()
