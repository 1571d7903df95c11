"""The process that reads one PDF, from standard input; run by its path, without the package (`siftd.documents.pdf`).

Its answer is one line of JSON. What it exits with says why there is none: 3 that pypdf is not there, 4 that the pages
cannot be read, 5 that they are locked, anything else that a limit has ended it.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import resource
import sys

MEMORY_BYTES_MAX = 1024**3
CPU_SECONDS_MAX = 60
TEXT_CHARS_MAX = 16 * 1024 * 1024
"""More than one document may have: it is refused then, rather than cut."""
MISSING, BROKEN, LOCKED = 3, 4, 5


def _limit(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS knows the memory's limit and refuses to set it
        resource.setrlimit(kind, (most, most))


def main() -> int:
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_CPU, CPU_SECONDS_MAX)
    _limit(resource.RLIMIT_AS, MEMORY_BYTES_MAX)
    try:
        import pypdf
        from pypdf.errors import FileNotDecryptedError
    except ImportError:
        return MISSING
    logging.disable()
    pages, room = [], TEXT_CHARS_MAX
    try:
        reader = pypdf.PdfReader(io.BytesIO(sys.stdin.buffer.read()))
        for page in reader.pages:
            text = page.extract_text().replace("\f", "\n")
            room -= len(text) + 1
            pages.append(text)
            if room < 0:
                break
        title = str((reader.metadata.title if reader.metadata else "") or "")[:1000]
    except FileNotDecryptedError:
        return LOCKED
    except MemoryError:
        os._exit(1)  # nothing that would allocate
    except Exception:  # noqa: BLE001 - pypdf raises a few dozen kinds for a broken file, Python's own among them
        return BROKEN
    sys.stdout.write(json.dumps({"title": title, "pages": pages, "count": len(pages)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
