"""What the history tells: which files are changed most, and which folders were renamed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection

from siftd.workspace.repository import Changed, head_commit, list_changes

COMMITS_MAX = 1_000
COMMIT_CHARS = 12
_MASS_EDIT = 100
"""A commit of more files says nothing of any: a reformatting, a move of everything."""


class History:
    """The latest commits of a work tree, as far as git tells them."""

    def __init__(self, root: str) -> None:
        self.commit = head_commit(root)[:COMMIT_CHARS]
        changes = list_changes(root, COMMITS_MAX) if self.commit else []
        self._by_commit: dict[str, list[Changed]] = defaultdict(list)
        for each in changes:
            self._by_commit[each.commit].append(each)
        self.commits = len(self._by_commit)
        self.last: dict[str, str] = {}
        """Of a path, the last commit that changed it."""
        for each in changes:
            self.last.setdefault(each.path, each.commit[:COMMIT_CHARS])

    def touches(self) -> Counter[str]:
        """Return in how many commits each file was changed, by its name of today as far as a rename was told."""
        counted: Counter[str] = Counter()
        today: dict[str, str] = {}
        for changed in self._by_commit.values():  # the newest first
            for each in changed:
                name = today.get(each.path, each.path)
                counted[name] += len(changed) <= _MASS_EDIT
                if each.was:
                    today[each.was] = name
        return counted

    def renamed_folders(self, folders: Collection[str]) -> dict[str, tuple[str, str]]:
        """Return of today's folders which one it was, and the commit that says so: most of whose files came from it."""
        moved: dict[str, Counter[str]] = defaultdict(Counter)
        commits: dict[tuple[str, str], str] = {}
        for commit, changed in self._by_commit.items():
            for each in changed:
                new, old = each.path.rpartition("/")[0], each.was.rpartition("/")[0]
                if each.was and new != old and new in folders and old not in folders:
                    moved[new][old] += 1
                    commits.setdefault((new, old), commit[:COMMIT_CHARS])
        found = {}
        for new, counted in moved.items():
            old, many = min(counted.items(), key=lambda each: (-each[1], each[0]))
            if many > 1 or sum(counted.values()) == 1:
                found[new] = (old, commits[new, old])
        return found
