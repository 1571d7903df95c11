"""To which folder a conversation belongs that names none: the workspace whose files it speaks of.

It has to be spoken of three times at least, and more often than any other. A path counts for the workspace that it lies
in, part by part, so that no workspace has the mentions of one whose name it begins.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from siftd.workspace.identity import find_workspace

MENTIONS_MIN = 3
_PATH = re.compile(r"(?:/[\w.@+-]{1,120}){2,20}")
_PATHS_MAX = 2_000
"""Different ones that are looked at. Arbitrary."""


def most_spoken_of(texts: Iterable[str]) -> str | None:
    """Return the root of the workspace that texts speak of most; None where none is spoken of often enough."""
    paths: Counter[str] = Counter()
    for text in texts:
        paths.update(_PATH.findall(text))
    mentions: Counter[str] = Counter()
    for path, count in paths.most_common(_PATHS_MAX):
        if (root := _root_of(path)) is not None:
            mentions[root] += count
    best = mentions.most_common(2)
    if not best or best[0][1] < MENTIONS_MIN or (len(best) > 1 and best[1][1] == best[0][1]):
        return None
    return best[0][0]


@functools.lru_cache(maxsize=4_096)
def _root_of(path: str) -> str | None:
    """Return the repository that a path lies in; None for a path that is in none that is there."""
    folder = Path(path)
    while not folder.is_dir():
        folder = folder.parent
    root = find_workspace(str(folder)).root
    return root if (Path(root) / ".git").exists() else None
