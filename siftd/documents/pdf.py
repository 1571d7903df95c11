"""A PDF's text, by pypdf in a process of its own: a page may say of itself that it is larger than any memory.

The process may use so much memory (on Linux; macOS does not hold a process to it), so much of a processor and so much
time, and says no more than a document may have. What ends it costs this one document.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from siftd.errors import DocumentRefused

SECONDS_MAX = 60
"""Of a processor and of a clock. Arbitrary: a book of a thousand pages takes half of it."""
_CHILD = Path(__file__).absolute().with_name("pdf_process.py")
_MISSING, _BROKEN, _LOCKED = 3, 4, 5


def read_pdf(data: bytes, *, seconds_max: float = SECONDS_MAX) -> tuple[str, str, int]:
    """Return the title that it gives itself, the text of its pages parted by form feeds, and how many there are."""
    if not data[:1024].lstrip().startswith(b"%PDF-"):
        raise DocumentRefused("broken", "it is no PDF, whatever its name says")
    command = [sys.executable, "-I", str(_CHILD)]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=seconds_max, env={}, check=False)
    except subprocess.TimeoutExpired:
        raise DocumentRefused(
            "too large", f"its text is not read in {seconds_max:g} seconds", hint="split it"
        ) from None
    except OSError as error:
        raise DocumentRefused("unreadable", f"no process could be started for it: {error.strerror}") from error
    if done.returncode == 0:
        answer = json.loads(done.stdout)
        return answer["title"], "\f".join(answer["pages"]), answer["count"]
    if done.returncode == _MISSING:
        install = f"{sys.executable} -m pip install 'siftd-memory[documents]'"
        raise DocumentRefused("no reader", "PDFs are read by a library that is not there", hint=install)
    if done.returncode == _LOCKED:
        raise DocumentRefused("broken", "it is locked with a password", hint="save it without one")
    if done.returncode == _BROKEN:
        raise DocumentRefused("broken", "its pages cannot be read", hint="open it in a viewer and save it anew")
    raise DocumentRefused("too large", "to read it takes more memory or time than one document may", hint="split it")
