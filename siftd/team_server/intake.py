"""What is looked at before an item may go on to the store: whether it holds a secret.

Laptops redact before anything is kept; the server does it again with its own rules, because a laptop may be older,
changed or hostile. What is found is refused and not replaced: the text would no longer be the one that its hash tells
of, and its owner would not learn of it. Addresses and phone numbers pass: whether to hide those is each person's
choice, and an issue is full of them.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from siftd.errors import EnvelopeRejected
from siftd.redact import Redactor
from siftd.team.items import Item, Put
from siftd.team.protocol import Ignored


class Intake:
    """The server's door for items. Safe to use from several threads."""

    def __init__(self) -> None:
        self._redactor = Redactor(secrets.token_bytes(32), emails=False, phones=False)

    def sift(self, items: Sequence[Item]) -> tuple[list[Item], list[Ignored]]:
        """Return the items that may enter, and why each of the others may not."""
        taken: list[Item] = []
        refused: list[Ignored] = []
        puts = [each for each in items if isinstance(each, Put)]
        suspects = iter(self._redactor.may_change([_said(each) for each in puts]))
        for item in items:
            if isinstance(item, Put) and next(suspects) and self._holds_secret(item):
                refused.append(Ignored(id=item.id, why="secret"))
            else:
                taken.append(item)
        return taken, refused

    def scrub(self, text: str) -> str:
        """Return a text without its secrets: what another program tells was never redacted."""
        return self._redactor.text(text)

    def _holds_secret(self, put: Put) -> bool:
        said = _said(put)
        try:
            return any(self._redactor.value(each) != each for each in said)
        except EnvelopeRejected:  # nested too deep to be read: what cannot be read is not kept
            return True


def _said(put: Put) -> list[object]:
    return [put.text, put.words, put.source_ref, put.metadata]
