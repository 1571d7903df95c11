"""What of a snapshot is out of date: the parts whose files have changed since it was taken."""

from __future__ import annotations

from dataclasses import dataclass

from siftd.knowledge.model import Snapshot
from siftd.knowledge.modules import modules_of
from siftd.knowledge.tree import Tree


@dataclass(frozen=True, slots=True)
class Stale:
    """What has changed."""

    modules: tuple[str, ...] = ()
    """Whose files are others now, or gone."""
    gone: tuple[str, ...] = ()
    """Of those, the ones that are not there any more."""
    fresh: tuple[str, ...] = ()
    """That no snapshot has seen."""
    paths: tuple[str, ...] = ()
    """Manifests and key files that have changed."""

    @property
    def is_empty(self) -> bool:
        return not (self.modules or self.fresh or self.paths)

    @property
    def said(self) -> str:
        """How much has changed, in words."""
        changed = len(self.modules) - len(self.gone)
        said = [
            (changed, "module has changed", "modules have changed"),
            (len(self.gone), "is gone", "are gone"),
            (len(self.fresh), "is new", "are new"),
            (len(self.paths), "manifest or key file has changed", "manifests and key files have changed"),
        ]
        return ", ".join(f"{number} {one if number == 1 else many}" for number, one, many in said if number)


def stale_parts(snapshot: Snapshot, root: str) -> Stale:
    """Return what has changed in the folder since the snapshot was taken of it."""
    tree = Tree(root)
    now = {each.path: each.hash for each in modules_of(tree, ())}
    then = {each.path: each.hash for each in snapshot.modules}
    files = {each.path: each.hash for each in snapshot.sources}
    files |= {each.path: each.hash for each in snapshot.key_files}
    return Stale(
        modules=tuple(path for path, known in then.items() if now.get(path) != known),
        gone=tuple(path for path in then if path not in now),
        fresh=tuple(path for path in now if path not in then),
        paths=tuple(sorted(path for path, known in files.items() if tree.hash(path) != known)),
    )
