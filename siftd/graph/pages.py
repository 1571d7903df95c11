"""What a document of words says: its paragraphs, tables and lists with a key, each below the heading it stands under.

Markdown is read as far as it tells who and what hangs together; other texts are read as the same without marks. Code in
fences says nothing here. Linear, line by line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from siftd.graph.model import EntityType, Found, Link, Named
from siftd.graph.phrases import named_in, tokens_of
from siftd.graph.prose import DESCRIPTION_CHARS_MAX, read_prose
from siftd.graph.prose_words import Verb

LINE_CHARS_MAX = 2_000
"""What a line has more is not read: a longer one is no prose."""
_PARAGRAPH_LINES_MAX = 40
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]{1,8}(\S[^\n]{0,200})")
_FENCE = re.compile(r" {0,3}(`{3,40}|~{3,40})")
_ROW = re.compile(r"\s{0,8}\|")
_RULE = re.compile(r"[\s|:+-]{1,2000}\Z")
_UNDERLINE = re.compile(r"(?:={3,200}|-{3,200}|~{3,200})\s{0,8}\Z")
_BULLET = re.compile(r"\s{0,20}(?:[-*+•]|\d{1,3}[.)])[ \t]{1,8}")
_KEYED = re.compile(r"\W{0,4}([A-Za-z][A-Za-z /-]{1,30}?)\W{0,4}:\W{0,3}\s(?=\S)")

_WORKERS = Verb("WORKS_ON", is_reversed=True, subject="person")
_KEYS: dict[str, Verb] = {
    **dict.fromkeys(
        "depends on|depends|dependencies|dependency|requires|needs|upstream|upstreams|relies on".split("|"),
        Verb("DEPENDS_ON"),
    ),
    **dict.fromkeys("dependents|used by|consumers|downstream|clients".split("|"), Verb("DEPENDS_ON", is_reversed=True)),
    **dict.fromkeys("uses|stack|tech stack|technology|technologies|built with|tools".split("|"), Verb("USES")),
    **dict.fromkeys(
        "owner|owners|owned by|maintainer|maintainers|maintained by|lead|tech lead|team lead|members|responsible|"
        "contact|people|engineers|who".split("|"),
        _WORKERS,
    ),
    **dict.fromkeys("author|authors|created by|written by|creator".split("|"), Verb("CREATED_BY", object="person")),
    **dict.fromkeys("works on|projects|responsibilities|owns|maintains".split("|"), Verb("WORKS_ON")),
    **dict.fromkeys(
        "database|databases|storage|store|data store|datastore|stores in|stored in|db".split("|"),
        Verb("STORES_IN", object="tool"),
    ),
    **dict.fromkeys(
        "location|region|host|hosted in|hosted on|runs on|runs in|deployed to|environment".split("|"),
        Verb("LOCATED_IN", object="place"),
    ),
    **dict.fromkeys("integrates with|integrations|talks to|connects to".split("|"), Verb("INTEGRATES_WITH")),
    **dict.fromkeys("replaces|supersedes".split("|"), Verb("REPLACES")),
    **dict.fromkeys("replaced by|superseded by".split("|"), Verb("REPLACES", is_reversed=True)),
    **dict.fromkeys("part of|belongs to|system|parent".split("|"), Verb("PART_OF")),
    **dict.fromkeys("components|modules|services|contains".split("|"), Verb("PART_OF", is_reversed=True)),
    **dict.fromkeys("formerly|previously|old name|renamed from".split("|"), Verb("RENAMED_TO", is_reversed=True)),
    **dict.fromkeys("renamed to|new name".split("|"), Verb("RENAMED_TO")),
}
"""What the head of a column, or the word before a colon, says of what stands there."""
_ALIAS_KEYS = frozenset("alias aliases aka nickname abbreviation short".split())
_DESCRIPTIONS = frozenset("description purpose what about responsibility summary role".split())
_TEAM_KEYS = frozenset(("team", "teams", "squad", "owning team", "group"))
_FIRST_COLUMNS: dict[str, EntityType | None] = {
    **dict.fromkeys(("service", "services", "microservice", "component", "application", "app", "system"), "service"),
    **dict.fromkeys(("team", "teams", "squad"), "team"),
    **dict.fromkeys(("person", "people", "member", "engineer", "developer", "who", "maintainer", "owner"), "person"),
    **dict.fromkeys(("project", "projects", "repository", "repo"), "project"),
    **dict.fromkeys(("tool", "tools", "technology", "library", "database"), "tool"),
    **dict.fromkeys(("package", "crate", "module"), "package"),
    "name": None,
}
"""What a table is about, by the head of its first column; of any other one nothing is taken."""


def read_page(found: Found, text: str) -> None:
    """Note what a text says; its lines are those of the document."""
    _Page(found).read(text)


class _Page:
    """One document, read from above."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._paragraph: list[str] = []
        self._begun_at = 0
        self._subjects: list[tuple[int, Named | None]] = []
        """What the headings above name, by their level."""
        self._table: list[str] | None = None
        self._fence = ""

    def read(self, text: str) -> None:
        for number, each in enumerate(text.splitlines(), start=1):
            self._line(number, each[:LINE_CHARS_MAX])
        self._end_paragraph()

    def _line(self, number: int, line: str) -> None:
        if fence := _FENCE.match(line):
            self._end_paragraph()
            self._fence = "" if self._fence and fence[1].startswith(self._fence) else self._fence or fence[1]
        elif self._fence:
            return
        elif heading := _HEADING.match(line):
            self._end_paragraph()
            self._head(len(heading[1]), heading[2].rstrip("# \t"))
        elif _UNDERLINE.match(line) and len(self._paragraph) == 1:
            title, self._paragraph = self._paragraph[0], []
            self._head(1 if line.startswith("=") else 2, title)
        elif _ROW.match(line):
            self._end_paragraph(keeps_table=True)
            self._row(number, line)
        elif not line.strip():
            self._end_paragraph()
        else:
            self._text(number, line)

    def _text(self, number: int, line: str) -> None:
        self._table = None
        bullet = _BULLET.match(line)
        if bullet is not None or len(self._paragraph) >= _PARAGRAPH_LINES_MAX:
            self._end_paragraph()
        content = line[bullet.end() :] if bullet is not None else line
        if self._keyed(number, content):
            self._end_paragraph()
            return
        if not self._paragraph:
            self._begun_at = number
        self._paragraph.append(content.strip(" \t>"))

    def _end_paragraph(self, *, keeps_table: bool = False) -> None:
        if not keeps_table:
            self._table = None
        if self._paragraph:
            lines, self._paragraph = self._paragraph, []
            self._sentences(lines)

    def _sentences(self, lines: Sequence[str]) -> None:
        """Read a paragraph, each sentence with the line in which it begins."""
        pending, begun = "", self._begun_at
        for number, line in enumerate(lines, start=self._begun_at):
            if not pending:
                begun = number
            pending = f"{pending} {line}" if pending else line
            if line.endswith((".", "!", "?", ":")) or len(pending) > LINE_CHARS_MAX:
                read_prose(self._found, pending, begun, self._subject())
                pending = ""
        if pending:
            read_prose(self._found, pending, begun, self._subject())

    def _head(self, level: int, title: str) -> None:
        while self._subjects and self._subjects[-1][0] >= level:
            self._subjects.pop()
        names = named_in(title)
        is_name = len(names) == 1 and len(tokens_of(title)) <= 4
        self._subjects.append((level, names[0] if is_name and names[0].type != "concept" else None))

    def _subject(self) -> Named | None:
        return next((each for _, each in reversed(self._subjects) if each is not None), None)

    def _keyed(self, number: int, line: str) -> bool:
        """Note what "Owner: Alice" says of what the heading names; return whether it was such a line."""
        subject = self._subject()
        match = _KEYED.match(line)
        if match is None or subject is None:
            return False
        return self._value(subject, match[1].strip().lower(), line[match.end() :], number)

    def _row(self, number: int, line: str) -> None:
        cells = [each.strip() for each in line.strip().strip("|").split("|")]
        if self._table is None:
            self._table = [" ".join(each.text for each in tokens_of(cell)).lower() for cell in cells]
        elif not _RULE.match(line) and self._table and self._table[0] in _FIRST_COLUMNS:
            names = named_in(cells[0], _FIRST_COLUMNS[self._table[0]])
            if len(names) == 1:
                subject = names[0]
                self._found.name(subject, number)
                for key, cell in zip(self._table[1:], cells[1:], strict=False):
                    if cell and cell not in "-–—":
                        self._value(subject, key, cell, number)

    def _value(self, subject: Named, key: str, value: str, number: int) -> bool:
        """Note what stands under a key; return whether the key says anything."""
        if key in _ALIAS_KEYS:
            for each in named_in(value, subject.type)[:8]:
                self._found.alias(subject, each.name)
            return True
        if key in _TEAM_KEYS:
            for each in named_in(value, "team"):
                team = each if each.type == "team" else Named("team", each.name)
                src, dst = (subject, team) if subject.type == "person" else (team, subject)
                self._found.link(Link(src, "WORKS_ON", dst, "prose", number))
            return True
        if key in _DESCRIPTIONS:
            self._found.describe(subject, " ".join(value.split())[:DESCRIPTION_CHARS_MAX])
            read_prose(self._found, value, number, subject)
            return True
        verb = _KEYS.get(key)
        if verb is None:
            return False
        other = verb.subject if verb.is_reversed else verb.object
        for each in named_in(value.replace("<br>", ",").replace("/", ","), other):
            src, dst = (each, subject) if verb.is_reversed else (subject, each)
            if verb.relation == "RENAMED_TO":
                src, dst = Named(subject.type, src.name), Named(subject.type, dst.name)
                self._found.alias(dst, src.name)
            self._found.link(Link(src, verb.relation, dst, "prose", number))
        return True
