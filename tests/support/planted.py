"""Every kind of secret, each at every place of a payload, and a search for any byte of any of them.

What is planted is each rule's own example, values of a workspace's `.env`, and a rule of one's own.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

import re2  # type: ignore[import-untyped]

from siftd.redact import Redactor
from siftd.redact.rules import RULES

OWN_RULE = {"name": "customer-number", "pattern": "KD-[0-9]{8}", "example": "KD-20417733"}
ENV = {"DB_PASSWORD": "tr0ub4dor&3horse+9", "SESSION_SALT": "qZ7-x9Lm2.vK4", "MAIL_URL": "smtp://me:brass-M0nkey-42@mx"}
KINDS_MIN = 200
NO_TEXT = frozenset({"pgpass", "kubernetes-secret", "encoded", "static-key", "netrc"})
"""Known by the lines around them: within other lines, one character before or behind them makes them another text."""
WHOLE_LINES = ("user bob ",)
"""Texts of a dialogue, which a line begins with by definition: behind another word they are words of a sentence."""
NOT_ENCODED = frozenset({"email", "phone"})
"""Too short to be told from chance in base64."""


@dataclass(frozen=True)
class Kind:
    """One kind of secret: a text that holds it, and what of the text nobody may find again."""

    name: str
    text: str
    secrets: tuple[str, ...]

    @property
    def is_escapable(self) -> bool:
        return self.name not in NO_TEXT

    @property
    def is_part_of_a_line(self) -> bool:
        return not self.text.startswith(WHOLE_LINES)

    @property
    def is_encodable(self) -> bool:
        return self.name not in NOT_ENCODED | NO_TEXT


def kinds() -> list[Kind]:
    redactor = Redactor(b"k" * 32)
    found = []
    for rule in RULES:
        if not redactor.find(f"{rule.example}\nlast line"):
            continue  # what is left of a key that was cut off behind its first line: no secret in any other place
        spans = redactor.find(rule.example)
        found.append(Kind(rule.name, rule.example, tuple(rule.example[begin:end] for begin, end, _ in spans)))
    found.append(Kind("customer-number", "for KD-20417734 only", ("KD-20417734",)))
    found += [Kind("env-value", f"a {value} b", (value,)) for value in (*list(ENV.values())[:2], "brass-M0nkey-42")]
    return found


KINDS = kinds()


def places(kind: Kind) -> dict[str, Any]:
    """Return the payload of a call that holds a kind at every place: depth, keys, lines, escapes, encodings."""
    text = f"first line\n{kind.text}\nlast line"
    lines = text.split("\n")
    planted: dict[str, Any] = {
        "command": kind.text,
        "deep": [{"deeper": [[{"deepest": text}]]}],
        kind.text: "as a key",
    }
    if kind.name not in NO_TEXT:
        planted["patch"] = [{"lines": [f" {line}" for line in lines]}]
        planted["numbered"] = "\n".join(f"{number:6}\u2192{line}" for number, line in enumerate(lines, start=1))
    if kind.is_escapable:
        planted["escaped"] = json.dumps({"log": text})
    if kind.is_encodable:
        planted["encoded"] = base64.b64encode(text.encode()).decode("ascii")
    return planted


def needles() -> dict[bytes, str]:
    """Return every form in which a secret would be found again, and its kind."""
    forms: dict[bytes, str] = {}
    for kind in KINDS:
        for secret in kind.secrets:
            written = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
            if kind.is_encodable and len(secret) >= 12:
                for before in range(3):
                    encoded = base64.b64encode(bytes(before) + secret.encode()).decode("ascii")
                    written.add(encoded[4:-4])
            forms |= {each.encode(): kind.name for each in written}
    return forms


class Search:
    """Finds any form of any secret, in any case of letters (full text is in lower case), in one pass."""

    def __init__(self) -> None:
        self._forms = {form.lower(): name for form, name in needles().items()}
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.max_mem = 256 << 20
        self._any = re2.compile(b"|".join(re2.escape(form) for form in sorted(self._forms)), options)

    def kinds_in(self, data: bytes) -> set[str]:
        """Return the kinds of which something stands in the data."""
        lowered = data.lower()
        if self._any.search(lowered) is None:
            return set()
        return {name for form, name in self._forms.items() if form in lowered}
