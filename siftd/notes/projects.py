"""The projects whose notes belong to one workspace, and how ids name them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from siftd import ids
from siftd.notes import registry
from siftd.notes.layout import IN_TREE, Bookkeeping, Project, project_id
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import GLOBAL, WorkspacePaths


def projects_of(paths: WorkspacePaths) -> list[Project]:
    """Return the projects with notes of a workspace; of the memories for every project all of them. Raises SiftdError
    for a registry that cannot be read."""
    return [each for each in registry.load(paths.home).projects if paths.key in (each.workspace, GLOBAL)]


def holders_of(paths: WorkspacePaths) -> list[Project]:
    """Return the projects of a workspace whose files may hold something: those that are excluded by now, too. Raises
    SiftdError as `projects_of` does."""
    excluded = [_as_it_was(paths, each) for each in registry.load(paths.home).excluded]
    return projects_of(paths) + [
        each for each in excluded if each is not None and paths.key in (each.workspace, GLOBAL)
    ]


def _as_it_was(paths: WorkspacePaths, path: str) -> Project | None:
    """Return the project that an excluded folder was; None where it had no notes."""
    books = Bookkeeping(paths.home, project_id(path))
    if not Path(books.folder).is_dir():
        return None
    in_tree = not Path(books.files).is_dir()
    folder = f"{path}/{IN_TREE}" if in_tree else books.files
    return Project(project_id(path), Path(path).name, path, find_workspace(path).key, folder, 0, in_tree)


def names_of(projects: list[Project]) -> dict[str, Project]:
    """Return projects by what ids name them: by the name that one has alone, and that can stand there, else by the
    project's own id."""
    counted = Counter(each.name.lower() for each in projects)
    return {
        each.name if counted[each.name.lower()] == 1 and ids.can_name_notes(each.name) else each.id: each
        for each in projects
    }
