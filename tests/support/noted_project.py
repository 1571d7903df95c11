"""A project with notes, as `mem notes init` registers it, and its files."""

from __future__ import annotations

from pathlib import Path

from siftd.notes import registry
from siftd.notes.layout import IN_TREE, Bookkeeping, Project, project_id
from siftd.workspace.identity import find_workspace
from siftd.workspace.paths import Home


def register(
    folder: Path,
    *,
    name: str = "",
    in_tree: bool = False,
    path: Path | None = None,
    key: str = "",
    home: Home | None = None,
) -> Project:
    """Register a project of the workspace in `folder`, in which its home lies too unless another one is named; `path`
    where it is a folder within."""
    home = home or Home(str(folder / "home"))
    real = str((path or folder).resolve())
    number = project_id(real)
    place = f"{real}/{IN_TREE}" if in_tree else Bookkeeping(home, number).files
    workspace = key or find_workspace(str(folder)).key
    project = Project(number, name or Path(real).name, real, workspace, place, 1, in_tree)
    with registry.changing(home) as found:
        found.projects.append(project)
    for each in ("archive", "inbox"):
        Path(project.folder, each).mkdir(parents=True, exist_ok=True)
    return project


def put(project: Project, **files: str) -> None:
    """Write the four files: `put(project, state="# State\\n")`."""
    for name, text in files.items():
        Path(project.folder, f"{name}.md").write_text(text, encoding="utf-8", newline="")


def move_notes(home: Home) -> None:
    """Let the registry of a home that was copied name the notes in the copy."""
    with registry.changing(home) as found:
        found.projects = [
            each if each.in_tree else each._replace(folder=Bookkeeping(home, each.id).files) for each in found.projects
        ]
