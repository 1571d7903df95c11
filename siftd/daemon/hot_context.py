"""What the hot context says: facts that hold in every project, in the block that `mem install --hot-context` made.

    <!-- siftd: written by `mem install` -->
    What you said that holds in every project, 2 facts, 2026-03-04 12:30 UTC:
    - g3 (preference) Use pnpm, not npm.
    - g7 (instruction) Sign every commit.
    <!-- siftd: end -->

Claude Code hands it to the model as the person's own instructions, to be followed: so nothing stands here but what a
person said or confirmed and accepted, and that holds in every project; nothing of one project, of an agent's, of a
tool's output or from outside. The file is written when what it says changes, at most every REST_SECONDS; what no longer
holds goes at once. A file without the block, or none, is left alone: nobody asked for it.

Every daemon of a home writes it, one at a time: who writes reads the store while it has the lock, and so never brings
back what another has just forgotten.

A fact is one line, made harmless: it closes no block, opens no comment, and imports no file. A client takes `@` and a
path for an import wherever they stand, in a code span too, so an `@` that begins a word is written as its wide form.
"""

from __future__ import annotations

import calendar
import fcntl
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from siftd import ids
from siftd.errors import SiftdError
from siftd.facts.blending import blend
from siftd.facts.pods import Asker, Fact
from siftd.harmless import harmless
from siftd.install.edits import MarkedBlock, text_of_block
from siftd.install.files import read_file, replace_file
from siftd.install.hot_context import MODE, NOTHING_YET
from siftd.search.pods import Store, read
from siftd.store.connection import reading
from siftd.workspace.paths import GLOBAL, Home

REST_SECONDS = 180
_MINUTE = "%Y-%m-%d %H:%M UTC"
_WHEN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} UTC")
_IMPORT = re.compile(r"(?<!\w)@")


def keep(home: Home, person: str, now_ms: int) -> bool:
    """Let the file say what holds in every project, as the store has it now; return whether it was written.

    Raises SiftdError.
    """
    database = home.for_workspace(GLOBAL).database
    if not Path(home.hot_context).exists() or not Path(database).exists():
        return False
    asker = Asker(GLOBAL, now_ms, GLOBAL, person=person)
    with _locked(home), reading(database) as connection:
        rows, facts = read([Store(ids.GLOBAL_MEMORY, GLOBAL, connection)], asker)
        standing = blend(rows, [fact for fact in facts if may_stand(fact)], asker)
        return refresh(home, standing.facts, now_ms)


def may_stand(fact: Fact) -> bool:
    """Whether a fact may be handed to a model as the person's own instruction."""
    return (fact.said_by == "person" or fact.is_confirmed) and fact.state == "holds"


def refresh(home: Home, facts: Sequence[Fact], now_ms: int) -> bool:
    """Let the file say these facts, those that may stand in it; return whether it was written. Raises SiftdError."""
    current = read_file(home.hot_context, follow=False)
    if current is None or (held := text_of_block(current)) is None:
        return False
    lines = [_line(fact) for fact in facts if may_stand(fact)]
    before = [line for line in held.splitlines() if line.startswith("- ")]
    is_resting = now_ms - _written_ms(held) < REST_SECONDS * 1000 and set(before) <= set(lines)
    if before == lines or is_resting:
        return False
    _write(home, current, "\n".join([_heading(len(lines), now_ms), *lines]) if lines else NOTHING_YET)
    return True


def empty(home: Home) -> None:
    """Leave nothing that was kept in the file, nor in what a crash has left of one. Raises SiftdError."""
    with _locked(home):
        _empty(home)


@contextmanager
def _locked(home: Home) -> Iterator[None]:
    descriptor = os.open(home.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _empty(home: Home) -> None:
    for each in Path(home.folder).glob(f"{Path(home.hot_context).name}.siftd-*"):
        with suppress(OSError):
            each.unlink()
    current = read_file(home.hot_context, follow=False)
    if current is not None and text_of_block(current) not in (None, NOTHING_YET):
        _write(home, current, NOTHING_YET)


def _write(home: Home, current: bytes, text: str) -> None:
    data = MarkedBlock(home.hot_context, text).put(current)
    replace_file(home.hot_context, data, expected=current, mode=MODE)
    try:
        Path(home.hot_context).chmod(MODE)  # it is no link: a file was renamed to this name just now
    except OSError as error:
        raise SiftdError(f"{home.hot_context} cannot be made private", hint=f"chmod 600 {home.hot_context}") from error


def _heading(many: int, now_ms: int) -> str:
    when = time.strftime(_MINUTE, time.gmtime(now_ms / 1000))
    return f"What you said that holds in every project, {many} fact{'s' * (many != 1)}, {when}:"


def _written_ms(held: str) -> int:
    """Return when a block was written, 0 where it does not say."""
    found = _WHEN.search(held.partition("\n")[0])
    with suppress(ValueError):
        return calendar.timegm(time.strptime(found[0], _MINUTE)) * 1000 if found else 0
    return 0


def _line(fact: Fact) -> str:
    line = f"- {fact.id} ({harmless(fact.category, 20)}) {harmless(fact.text, 2 * len(fact.text))}"
    return _IMPORT.sub("\uff20", line)
