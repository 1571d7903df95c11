"""What a project ignores: its `.gitignore` and `.ignore` files and git's own list, as git reads them.

Patterns are another's. They are matched by pathspec over google-re2, in linear time, and a file of them is read so far
as people write them. Nothing of git is run: a cloned repository's configuration names programs.
"""

from __future__ import annotations

import os

from pathspec import GitIgnoreSpec

from siftd.foreign_file import read

BYTES_MAX = 128 * 1024
PATTERNS_MAX = 2000
_NAMES = (".gitignore", ".ignore")
_PARENTS_MAX = 64


class IgnoreFiles:
    """The patterns that hold in a folder: its own, and those of the folders above up to the repository's top."""

    def __init__(self, root: str) -> None:
        self._specs: dict[str, list[tuple[str, GitIgnoreSpec]]] = {}
        *above, _ = _above(root)
        top = above[0] if above else root
        chain = _with([], top, os.path.join(top, ".git", "info", "exclude"))  # noqa: PTH118
        for folder in above:
            chain = self._entered(chain, folder)
        if self._says(chain, root + "/"):
            chain = []  # a person named what the project ignores: what the folder itself says holds
        self._specs[root] = self._entered(chain, root)

    def enter(self, folder: str, parent: str) -> None:
        """Know what a folder's own files say, before anything in it is asked about."""
        self._specs[folder] = self._entered(self._specs[parent], folder)

    def is_ignored(self, folder: str, name: str, *, is_folder: bool) -> bool:
        """Whether something in a folder is ignored. The nearest file that says anything of it decides."""
        path = os.path.join(folder, name) + ("/" if is_folder else "")  # noqa: PTH118
        return self._says(self._specs[folder], path)

    @staticmethod
    def _says(chain: list[tuple[str, GitIgnoreSpec]], path: str) -> bool:
        for base, spec in reversed(chain):
            said = spec.check_file(path[len(base) + 1 :] if base != "/" else path[1:]).include
            if said is not None:
                return said
        return False

    @staticmethod
    def _entered(chain: list[tuple[str, GitIgnoreSpec]], folder: str) -> list[tuple[str, GitIgnoreSpec]]:
        for name in _NAMES:
            chain = _with(chain, folder, os.path.join(folder, name))  # noqa: PTH118
        return chain


def _above(root: str) -> list[str]:
    """Return the folders whose ignore files hold in `root`, from the repository's top down."""
    folders = [root]
    for _ in range(_PARENTS_MAX):
        if os.path.lexists(os.path.join(folders[-1], ".git")):  # noqa: PTH118
            return folders[::-1]
        parent = os.path.dirname(folders[-1])  # noqa: PTH120
        if parent == folders[-1]:
            break
        folders.append(parent)
    return [root]


def _with(chain: list[tuple[str, GitIgnoreSpec]], base: str, path: str) -> list[tuple[str, GitIgnoreSpec]]:
    try:
        lines = read(path, BYTES_MAX).decode("utf-8", "replace").splitlines()[:PATTERNS_MAX]
    except OSError:
        return chain
    try:
        return [*chain, (base, GitIgnoreSpec.from_lines(lines, backend="re2"))]
    except ValueError:
        valid = [line for line in lines if _is_pattern(line)]
        return [*chain, (base, GitIgnoreSpec.from_lines(valid, backend="re2"))]


def _is_pattern(line: str) -> bool:
    """Whether a line is one: git passes over those that are none."""
    try:
        GitIgnoreSpec.from_lines([line], backend="re2")
    except ValueError:
        return False
    return True
