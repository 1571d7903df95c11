"""Nearness: beside a word that tells of a secret, whatever looks like one goes, whatever grammar holds them together.

A rule knows `password = "…"`. People and programs write `password is …`, `.password("…")`, `PASSWORD '…'`,
`cy.get('#password').type('…')`, `if ("…".equals(password))`, a word on one line and its value on the next. So each
line that has a telling name is read word by word, and the closer a word stands to the name, the less it need look
like a password:

    attached    only signs and connecting words between: `password: X`, `Passwort ist X`, `Password("X")`
    quoted      in quotes, somewhere in the line
    bare        somewhere in the line, where the line is no code and no other name owns the word (`user bob1`)

Each line is read once and a longer one in parts, so the cost is linear.
"""

# ruff: noqa: E501  (tables and expressions are read by their rows)

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from siftd.redact import flags, secret_words
from siftd.redact.flags import is_command, secrets_of_command
from siftd.redact.prefilter import Prefilter
from siftd.redact.secret_likelihood import HASH, digits_in, is_parted, is_stand_in
from siftd.redact.secret_words import OTHER_SCRIPTS, Name, is_secret_name_at, names_in
from siftd.redact.shape import Shape, is_assigned, is_drawn, shape_of
from siftd.redact.spans import PLACEHOLDER, Found, Range, united
from siftd.redact.table import secrets_of_html, secrets_of_insert, secrets_of_table
from siftd.redact.unescaped import Unescaped

HEAD = f"{secret_words.HEAD}|{flags.HEAD}"
"""What the gate looks for: a word that tells, or a program that takes passwords."""

LONGEST_LINE = 1_200
"""A longer line is read in parts around its telling words."""
BEFORE, AFTER = 160, 320
"""How far a word may stand from the name in a longer line."""
FOLLOWING = 240
"""Characters of the following lines in which a value may stand."""
FAR = 120
MOST_NESTED = 3
"""Programs within the command of another that are read as such: `sudo docker exec db mysql -p…`."""
MOST_FOLLOWING = 8
"""Words of the following lines that are looked at."""
NEAREST = 3
"""So many names before a word, and behind it, are asked whether it is theirs."""


def find_near(
    text: str, data: bytes, prefilter: Prefilter, parts: list[Range] | None, known: Sequence[Found] = ()
) -> list[Found]:
    """Return the secrets that stand beside telling names, in order and apart; with `parts` only near these.

    A line that has nothing to hide save what is `known`, found by another already, is not read.
    """
    found: list[Found] = []
    rest = _without(text, known)
    others = [] if text.isascii() else [match.span() for match in OTHER_SCRIPTS.finditer(text)]
    for begin, end in [(0, len(text))] if parts is None else parts:
        found += _near(text, rest, data, prefilter, begin, min(end, len(text)))
    read_to = -1
    for begin, end in others:
        if begin >= read_to:
            first, read_to = _line(text, begin, end)
            found += _read(text, rest, first, read_to)
    return united(sorted(set(found)), [(-2, -1, "")])[1:] if found else found


def _without(text: str, known: Sequence[Found]) -> str:
    """Return `text`, as long as it is, without placeholders and what is known and stands apart from what follows."""
    pieces: list[str] = []
    position = 0
    for begin, end, _ in known:
        if text[end : end + 1] in _APART:
            pieces += (text[position:begin], " " * (end - begin))
            position = end
    rest = "".join([*pieces, text[position:]]) if pieces else text
    return _PLACEHOLDER.sub(_blanks, rest) if "[REDACTED:" in rest else rest


def _blanks(match: re.Match[str]) -> str:
    return " " * (match.end() - match.start())


def _near(text: str, rest: str, data: bytes, prefilter: Prefilter, position: int, limit: int) -> Iterator[Found]:
    covered = nested = 0
    read_to = [0] * len(_COLUMNS)
    places = prefilter.finditer(data, position, limit)
    place = next(places, None)
    while place is not None:
        start, stop = _line(text, place.start(), place.end())
        says_secret = False
        while place is not None and place.start() < stop:
            if is_command(text[place.start() : place.end()]):
                nested = nested + 1 if place.start() < covered else 0
                if nested <= MOST_NESTED:
                    stop_of_command, spans = secrets_of_command(text, place.start())
                    covered = max(covered, stop_of_command)
                    yield from spans
            elif not says_secret:
                says_secret = is_secret_name_at(text, place.start(), place.end())
            place = next(places, None)
        if says_secret:
            following = min(len(text), stop + FOLLOWING)
            if _DIGIT_OR_SIGN.search(rest, start, following):
                yield from _read(text, rest, start, stop)
            for at, secrets_of in enumerate(_COLUMNS):
                if start >= read_to[at]:
                    read_to[at], rows = secrets_of(text, start, stop)
                    yield from rows


_COLUMNS = (secrets_of_insert, secrets_of_html, secrets_of_table)
"""Who reads the secrets of columns from the line that names them, each for itself and nothing twice."""


def _line(text: str, start: int, end: int) -> Range:
    """Return the line around a hit, or the part of a longer one, cut between words where it has blanks."""
    begin = text.rfind("\n", max(0, start - LONGEST_LINE), start) + 1
    if begin == 0 and start > LONGEST_LINE:
        begin = _cut(text, start - BEFORE)
    stop = text.find("\n", end, end + LONGEST_LINE)
    if stop < 0:
        stop = len(text) if len(text) <= end + LONGEST_LINE else _cut(text, end + AFTER)
    return begin, stop


def _cut(text: str, at: int) -> int:
    blank = text.find(" ", at, at + 64)
    return blank if blank >= 0 else at


def _read(text: str, rest: str, begin: int, end: int) -> Iterator[Found]:
    view = Unescaped(text[begin : end + FOLLOWING], end - begin)

    def is_known(first: int, last: int) -> bool:
        return rest[begin + view.place(first) : begin + view.place(last - 1) + 1].isspace()

    for first, last, kind in _Line(view.text, view.end, is_known).secrets():
        yield begin + view.place(first), begin + view.place(last - 1) + 1, kind


class Word(NamedTuple):
    """What may be a secret."""

    begin: int
    end: int
    is_quoted: bool
    is_whole: bool = False
    """Whether it is all that its line assigns."""


_WORD = re.compile(
    r"([\"'`])(?P<quoted>[^\s\"'`\\\x01]{4,256}+)(?=\1(?![A-Za-z0-9]))|"
    r"[\u201c\u201e\u00ab\u2018](?P<typeset>[^\s\u201c\u201d\u00ab\u00bb\u2019\x01]{4,256}+)(?=[\u201d\u201c\u00bb\u2019])|"
    r"(?P<bare>[^\s\"'`<>(){}\[\],;|\x01\u201c\u201d\u201e\u00ab\u00bb\u2190-\u21ff\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uffef]{4,256}+)"
)
_PHRASE = re.compile(
    r"[\"'](?P<phrase>(?:[a-z]{3,9}(?P<sign>[ -])){1}(?:[a-z]{3,9}(?P=sign)){2,6}[a-z]{3,9}[0-9]{0,3})[\"']"
)
"""A password of four words and more."""
_SENTENCE_OF_WORDS = re.compile(r"[a-z]{3,9}(?:[ -][a-z]{3,9}){3,7}[0-9]{0,3}")
_SENTENCE_WORD = re.compile(
    r"\b(?:your|the|and|must|please|enter|password|passwd|not|invalid|required|with|for|this|that|from|have|has|can|is|are|will|should|new|old|confirm|again|too|short|long|least|character|characters|reset|forgot|forgotten|change|token|secret|key|user|name|login|error|failed|wrong|field|value|string)\b"
)
_ENTRY = re.compile(
    r"(?m)^[ \t+>-]{0,16}(?:\d{1,6}[\t\u2192:])?(?:(?:export|set|ENV|env|-e|ARG|setenv|-)[ \t]{1,2})?[\"']?(?P<name>[A-Za-z_][\w.-]{0,80})(?:=|:[ \t]{1,4})(?P<value>[^\s\"'`\x01][^\s\x01]{2,254}[^\s\x01,;])[,;]?[ \t]*$"
)
_PLACEHOLDER = re.compile(PLACEHOLDER)
_APART = frozenset(["", " ", "\t", "\r", "\n", '"', "'", "`"])
"""What parts a secret that is known from what follows it."""
_DIGIT_OR_SIGN = re.compile(r"[0-9!@#$%^&*?~]|[A-Za-z]\+[A-Za-z]|[=:][ ]?[\"']?[a-z-]{9}")
_CONNECTING = frozenset(
    """
    is was are be to set now new as the a an ist war lautet es est era jest bylo ar e foi sera word string str text bytes byte
    n b r u l f value val default content data plain plaintext secure of or and then with type fill typed equals
    type_text sendkeys send keys compare eq ne equalsignorecase static final const char var let secretstr securestring
    sensitive nonsensitive buffer std basic_string std string_view cow some just wrap box unsafe literal utf utf8 encode
    currently changed updated reset via by identified login for temporary temp initial generated root admin user db
    database account server staging production prod wifi site here ist das lautet neu neues nowe nuevo nouvelle retype
    confirm again repeat verify reenter enter i my our your his her their this that used using use following created
    postgres mysql redis bob alice me us it there so please try field element page locator first second press
    de del della di da du des la le el il der die den dem do na w dla pour por para per van het bij zu zum fur für è é acceso acesso
    server servidor serveur access code local new_password old_password authenticator app two factor setup manual entry machine
    from tobe toequal defaultvalue setvalue qstring sendline child router portal panel got became wurde geändert neue nya changed cambiata alterada on は 是 은 는 이 가 为 為 je to är web ssh ftp vpn api guest reader mot passe haslo hållet är í tí это от для базы lösenordet
    """.split()
)
_WORDS = re.compile(r"[^\W\d_]+")
_OWNED = re.compile(
    r"(?:(?P<name>[A-Za-z_][\w.-]{0,40})[\"'`\])]{0,3}[ \t]{0,2}(?:=>|:=|[:=])[ \t]{0,3}[\"'`\[({]{0,3}|"
    r"\b(?P<word>user(?:name)?|login|host|hostname|by|from|at|in|on|version|port|branch|tag|file|line|commit|pod|node|id|email|mail|ticket|"
    r"issue|image|table|index|revision|package|model|member|account|name|client|session|request|run|job|build|task|step|device|serial|order|see)"
    r"[ \t]{1,3}[\"'`#]?)$"
)
_NEUTRAL = frozenset(
    """
    value val text data content default defaultvalue string result output new old current initial key secretstring input arg
    args param is equals expected actual got want answer with to then prompt body stdout stderr message msg line password2 retype
    confirm again repeat x y v s p it note error fill type
    """.split()
)
_SAYS = re.compile(
    r"[=:(\u2192]|\b(?:is|are|was|(?:changed|reset|set|back|now)[ ]to|ist|lautet|es|est|era|jest|è|é|är|on)\b|是|は|은|는|это"
)
_SAYS_LAST = re.compile(r"(?::|=|\b(?:is|are|was|ist|lautet|est|es|jest|è|é))[ \t]{0,3}[\"'`*]{0,2}$")
_TIGHT = frozenset(["=", ":", ":-", ":="])
_IS_CODE = re.compile(
    r"[;{}]\s*$|\)\s*[;{,]\s*$|^\s*(?:(?:def|class|const|let|var|function|func|fn|pub|async|await|elif|@|//|/\*)\b|"
    r"(?:return|import|from|if|else|for|while|export|public|private|protected|static(?!-)|type|interface|assert|expect|it|test|describe|\*)\b(?=[^\n]{0,400}[(){};=\[]))|"
    r"=>|\w\(|\s[=!]==?\s|\w\.\w+\("
)
_NOTHING_MORE = re.compile(
    r"(?:</[\w:]{1,40}>)?[\"'`)\]} \t?*_]*(?:\([^()]{0,40}\))?[ \t]*(?:[:=|>\u2192,-]{1,2}[ \t]*)?[>|{\[(]?[+-]?[\"'`]?[ \t\r\\]*"
)
_ELEMENT = re.compile(r"[ \t]*<[\w:]{1,40}>[ \t]*")
_BLOCK_VALUE = re.compile(
    r"(?:[^{}\n]{0,60}\n){0,4}[ \t]*[\"']?(?:value|Value|default|plaintext|val)[\"']?[ \t]*[:=][ \t]*[\"']?"
)
_IMPORT = re.compile(
    r"[ \t]*(?:\d{1,6}[\t\u2192:])?[ \t+-]{0,8}(?:import\b|from[ ][\w.]+[ ]import\b|(?:const|let|var)[ ][^=\n]{1,80}=[ ]?require\(|#include|use[ ][\w:]+(?:::[\w{}*, ]+)?;|export[ ][*{][^\n]{0,80}[ ]from[ ])"
)
_SENTENCE = re.compile(
    r"[\"'`*)]{0,2}[ ][\w '()/.@-]{0,50}(?::|=|\w)[ \t]{0,3}[\"'`*]{0,2}|[\"'`*)]{0,2}[ ][\w '()/.@-]{0,50}[\"'`*]{0,2}"
)
_FOR_WHAT = re.compile(
    r"(?<![^\W\d_])(?:for|of|on|at|in|from|von|für|vom|zum|zur|auf|del?|della|do|da|du|pour|sur|van|voor|på|till|för|til|от|для|к|на|w|do|na|dla)[ ]"
    r"(?:(?:the|my|our|its|that|this|der|die|das|den|dem|il|la|le|el|de|het|a|o)[ ])?[\w.@+-]{2,40}(?:'s)?(?:[ ](?:db|database|server|box|machine|host|account|user|repo|cluster|thing|service|app|page|panel|router|printer))?(?![^\W\d_])"
)
"""What the password is for, of which any word may be said: `for jenkins`, `от сервера`."""
_OF_CODE = re.compile(r"[()\[\]{}<>]")
_AS = re.compile(r"[\"'`]?[ ](?:as|is|for)[ ](?:(?:the|my|our|its|a|your|his|her)[ ])?(?:[a-z]{2,12}[ ]){0,2}")
"""What stands between a password and its name: `try X as pass`, `X is the root password`."""
_USER_FIRST = re.compile(r"[\"']?[ ]?(?:=>|[=:])?[ ]?[(\[{][^()\[\]{}\n]{0,80}(?:Some\()?[\"'`]")
"""What stands between the call that takes a user and a password, and the password."""
_TRAILING = re.compile(r"[.,:\\]+$|[)]+[.,]*$|(?<=\w)\?$")
_NAME_BEFORE = re.compile(r"--?[\w-]{1,40}=|[A-Za-z_][A-Za-z_.-]{1,60}[0-9]{0,2}(?:=>|:=|:-|[:=])(?=[^=:/])")
_FREE_BEFORE = frozenset(["", " ", "\t", ":", "=", ">", "\u2192", "\u662f", "/", "(", "'", '"', "\n", "-"])
_FREE_AFTER = frozenset(
    ["", "]", " ", "\t", ",", ".", ";", "\n", ":", ")", "!", "?", "<", "'", '"', "}", "&", "|", "\\"]
)
_ID_COLUMN = re.compile(r"[ ]{2}|\t")
"""Behind the first column of a listing, which holds an id."""
_SIDES = re.compile(r"[\w.@+-]{1,64}[:/](?=[^/:\s]{5})")


_begin = attrgetter("begin")


class _Line:
    """A line with telling names, and what follows it."""

    def __init__(self, text: str, end: int, is_known: Callable[[int, int], bool]) -> None:
        self._is_known = is_known
        self._text = text
        self._end = end
        self._is_code = _IS_CODE.search(text, 0, end) is not None
        self._shapes: dict[str, Shape] = {}

    def secrets(self) -> list[Found]:
        names = list(names_in(self._text, 0, self._end, self._is_known))
        if not names or _IMPORT.match(self._text):
            return []
        found: dict[Range, str] = {}
        following = 0
        most_following = MOST_FOLLOWING if any(map(self._leads_on, names[-NEAREST:])) else 0
        for word in self._words():
            following += word.begin > self._end
            if following > most_following:
                break
            if self._is_known(word.begin, word.end):
                continue
            for part in self._sides(word):
                if (part.begin, part.end) in found:
                    break
                name = self._taker(part, names)
                if name is not None:
                    found[part.begin, part.end] = "password" if name.kind == "password" else "secret"
                    break
        return [(begin, end, kind) for (begin, end), kind in sorted(found.items())]

    def _leads_on(self, name: Name) -> bool:
        """Whether a value of this name may follow its line: nothing more stands on it, or a backslash continues it."""
        newline = self._text.find("\n", name.end)
        return not 0 <= newline <= self._end or _NOTHING_MORE.fullmatch(self._text, name.end, newline) is not None

    def _words(self) -> Iterator[Word]:
        for match in _ENTRY.finditer(self._text, 0, self._end):
            yield Word(*match.span("value"), True, True)
        for match in _PHRASE.finditer(self._text, 0, self._end):
            if not _SENTENCE_WORD.search(match["phrase"]):
                yield Word(*match.span("phrase"), True, True)
        for match in _WORD.finditer(self._text):
            group = match.lastgroup or "bare"
            begin, end = match.span(group)
            if group != "bare":
                yield Word(self._after_names(begin, end), end, True)
                continue
            if begin > self._end and not self._text[self._text.rfind("\n", 0, begin) + 1 : begin].strip():
                yield Word(begin, end, False)
            begin, end = self._trimmed(begin, end)
            if end - begin >= 4:
                yield Word(begin, end, False)

    def _sides(self, word: Word) -> Iterator[Word]:
        """Yield the word, or what stands behind a name in it: `bob:X`, `bob/X`."""
        match = None if word.is_whole else _SIDES.match(self._text, word.begin, word.end)
        if match and "://" not in self._text[word.begin : word.end]:
            yield word._replace(begin=match.end())
        yield word

    def _trimmed(self, begin: int, end: int) -> Range:
        """Cut what belongs to the sentence and not to the word, and the name before an equals sign or a colon."""
        text = self._text
        while begin < end and text[begin] in "*_-" and text[end - 1] in "*_:.,":
            begin += text[begin] in "*_"
            end -= 1
        trailing = _TRAILING.search(text[begin:end])
        if trailing:
            end = begin + trailing.start()
        return self._after_names(begin, end), end

    def _after_names(self, begin: int, end: int) -> int:
        """Return where the value begins behind `--from-literal=db-pass=`."""
        for _ in range(3):
            match = _NAME_BEFORE.match(self._text, begin, end)
            if match is None:
                break
            begin = match.end()
        return begin

    def _taker(self, word: Word, names: list[Name]) -> Name | None:
        """Return the name because of which `word` is a secret."""
        text = self._text
        value = text[word.begin : word.end]
        at = bisect_right(names, word.begin, key=_begin)
        before = [name for name in names[max(0, at - NEAREST) : at] if name.end <= word.begin <= name.end + AFTER]
        behind = [name for name in names[at : at + NEAREST] if word.end <= name.begin <= word.end + FAR]
        if not (before or behind) or is_stand_in(value):
            return None
        shape = Shape.WORD if word.is_whole and _SENTENCE_OF_WORDS.fullmatch(value) else self._shape_of(value)
        if shape is Shape.NONE and (not before or not (word.is_quoted or digits_in(value) > 1 or is_parted(value))):
            return None
        if any(self._says_only(word, name) for name in names):
            return None
        for name in reversed(before):
            if self._is_enough(name, word, value, shape, text[name.end : word.begin]):
                return name
        for name in behind:
            if self._is_enough(name, word, value, shape, None):
                return name
        return None

    def _says_only(self, word: Word, name: Name) -> bool:
        """Whether the word is little more than the name in it: `password?*,`."""
        is_in = word.begin <= name.begin < word.end and word.end - word.begin < name.end - name.begin + 4
        return is_in and self._shape_of(self._text[name.begin : name.end]) is Shape.NONE

    def _shape_of(self, word: str) -> Shape:
        """Return the shape of a word, which a line may hold in several ways: quoted, and behind its name."""
        shape = self._shapes.get(word)
        if shape is None:
            shape = self._shapes[word] = shape_of(word)
        return shape

    def _is_enough(self, name: Name, word: Word, value: str, shape: Shape, gap: str | None) -> bool:
        if name.is_call and gap is not None:
            is_second = any(sign in gap for sign in ",:>")
            return (
                word.is_quoted
                and (is_second or digits_in(value) > 1)
                and (
                    shape >= Shape.TWISTED
                    or (shape is Shape.WORD and digits_in(value) > 0)
                    or is_parted(value)
                    or (digits_in(value) > 3 and len(value) >= 12 and value.isalnum() and not value.isdigit())
                )
                and _USER_FIRST.fullmatch(gap) is not None
            )
        if gap is None and shape >= Shape.TWISTED and _AS.fullmatch(self._text, word.end, name.begin):
            return name.kind == "password"
        is_attached = gap is not None and self._is_attached(gap)
        if not is_attached and ("\n" in (gap or "") or name.is_vague):
            return False
        if gap is not None and is_attached:
            says = _SAYS.search(gap) is not None
            if value.isdigit():
                return says and (
                    4 <= len(value) <= 10
                    if name.is_pin
                    else name.kind == "password" and self._may_be_number(name, word, value)
                )
            if name.is_vague and not says:
                is_enough = shape is Shape.DRAWN or (gap == " " and shape is Shape.TWISTED)
                return name.kind == "password" and is_enough and not self._is_code and self._stands_free(word)
            is_named = says and not (name.is_vague and value.isalpha())
            if (word.is_whole or word.is_quoted) and is_named and is_assigned(value, name.kind):
                return not (word.is_whole and self._is_code) or shape is Shape.DRAWN
            if name.kind != "password":
                if says and not self._is_code and shape >= Shape.TWISTED and self._is_said(name, word):
                    return True
                if gap.endswith(": ") and " " in self._text[name.begin : name.end]:
                    return is_drawn(value) or HASH.fullmatch(value) is not None
                return is_drawn(value) or (shape is Shape.DRAWN and word.is_quoted)
            if word.is_quoted:
                return shape >= Shape.WORD
            if (
                not self._is_code
                and says
                and (digits_in(value) > 1 or is_parted(value))
                and is_assigned(value, "password")
            ):
                return not name.is_vague or shape > Shape.NONE
            if not self._is_code:
                return shape >= Shape.TWISTED or (shape is Shape.WORD and (says or digits_in(value) > 1))
            return shape is Shape.DRAWN or (gap in _TIGHT and shape is Shape.TWISTED and self._stands_free(word))
        if name.kind != "password" or shape < Shape.TWISTED or self._is_owned(word):
            return False
        if gap is None and (
            _ID_COLUMN.match(self._text, word.end) or (value.isalnum() and value.islower() and len(value) >= 20)
        ):
            return False
        return word.is_quoted or (not self._is_code and self._stands_free(word))

    def _is_said(self, name: Name, word: Word) -> bool:
        """Whether it is called a secret, or stands alone behind the name of a key or a code; others are drawn."""
        said = self._text[name.begin : name.end].lower()
        line_end = self._text.find("\n", word.end)
        is_last = not self._text[word.end : line_end if line_end >= 0 else None].strip()
        return said.endswith("secret") or (is_last and said.endswith((" key", " code", " codes")))

    def _may_be_number(self, name: Name, word: Word, value: str) -> bool:
        """Whether digits are a password rather than a count, a time or a size: in quotes, alone, or eight of them."""
        least = 6 if word.is_whole or word.is_quoted else 8
        is_many = self._text[name.end - 1] in "sS"
        return len(value) >= least and not is_many and not name.is_vague and not (word.is_whole and self._is_code)

    def _is_attached(self, gap: str) -> bool:
        line, newline, following = gap.partition("\n")
        if newline:
            if not _NOTHING_MORE.fullmatch(line):
                return False
            is_next = (
                _WORDS.search(following) is None or _ELEMENT.fullmatch(following) is not None
            ) and "\n" not in following.strip()
            return is_next or _BLOCK_VALUE.fullmatch(following) is not None or self._only_connects(following)
        if len(gap) > FAR:
            return False
        return self._only_connects(line) or (_SAYS_LAST.search(line) is not None and self._is_sentence(line))

    def _is_sentence(self, gap: str) -> bool:
        """Whether it is a few words and no code: `the api key for the weather service: X`."""
        return not self._is_code and len(gap) <= 60 and _SENTENCE.fullmatch(gap) is not None

    @staticmethod
    def _only_connects(gap: str) -> bool:
        words = _WORDS.findall(gap if _OF_CODE.search(gap) else _FOR_WHAT.sub("", gap, count=1))
        return len(words) <= 7 and "\n" not in gap and all(word.lower() in _CONNECTING for word in words)

    def _is_owned(self, word: Word) -> bool:
        """Whether another name has it: `user=bob1`, `host db7`."""
        match = _OWNED.search(self._text[max(0, word.begin - 48) : word.begin])
        if match is None:
            return False
        return match["word"] is not None or match["name"].lower() not in _NEUTRAL

    def _stands_free(self, word: Word) -> bool:
        before, after = self._text[max(0, word.begin - 1) : word.begin], self._text[word.end : word.end + 1]
        return before in _FREE_BEFORE and after in _FREE_AFTER
