"""`mem notes init`: making a project's files and registering it, once a person asks for it in that project."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from siftd.errors import RequestInvalid
from siftd.notes import document, registry, sources
from siftd.notes.document import Document
from siftd.notes.layout import IN_TREE, NOTE_NAMES, Bookkeeping, NoteName, Project, project_id
from siftd.notes.surroundings import Surroundings
from siftd.workspace.home import ensure_folder, write_private
from siftd.workspace.identity import find_workspace

NAME_CHARS_MAX = 80
_TITLES: dict[NoteName, str] = {
    "state": "State",
    "decisions": "Decisions",
    "mistakes": "Mistakes",
    "todo": "To do",
}
_STUB = """# Notes of this project

Read before you begin: [state](../state.md), what is going on; [decisions](../decisions.md), what was decided and why;
[mistakes](../mistakes.md), what must not happen again; [todo](../todo.md), what is open.

siftd writes these four files. Do not edit them while you work: drop what should be remembered as a `.md` file into
[inbox](../inbox/), or run `mem note TEXT`; the next sync takes it in.
"""
_IGNORE = "# What waits in here is taken into the notes; it is nobody's history.\n*\n"


class Made(NamedTuple):
    """What `init` did."""

    project: Project
    written: list[str]
    is_new: bool


def init(path: str, around: Surroundings, *, name: str | None = None, in_tree: bool = False) -> Made:
    """Make a project's notes and register it; a second time only what is missing. Its beginning is now.

    Raises RequestInvalid for a folder that is excluded, or whose notes lie elsewhere already.
    """
    root = os.path.realpath(path)
    if not Path(root).is_dir():
        raise RequestInvalid("there is no such folder", hint="name the project's folder")
    if root == os.path.realpath(around.user_home):
        raise RequestInvalid("your home folder is no project", hint="name the project's folder")
    with registry.changing(around.home) as known:
        if known.is_excluded(root, around.settings.notes_exclude):
            raise RequestInvalid("this folder is excluded from notes", hint="see `notes.exclude`, `mem notes status`")
        before = next((each for each in known.projects if each.path == root), None)
        project = _project(root, around, before, name=name, in_tree=in_tree)
        ensure_folder(Bookkeeping(around.home, project.id).folder)
        written = _scaffold(project, around.today)
        books = Bookkeeping(around.home, project.id)
        if not Path(books.cursors).exists():
            write_private(Path(books.cursors), sources.present_end(project, around).encoded().encode())
        known.projects = [project if each.path == root else each for each in known.projects]
        if before is None:
            known.projects.append(project)
        known.offered.pop(root, None)
    return Made(project, written, before is None)


def exclude(path: str, around: Surroundings) -> bool:
    """Have no notes for a folder and what lies in it, from now on; return whether that is news. Files stay."""
    root = os.path.realpath(path)
    with registry.changing(around.home) as known:
        is_news = root not in known.excluded
        if is_news:
            known.excluded.append(root)
        known.projects = [each for each in known.projects if not known.is_excluded(each.path)]
        known.offered = {each: ts for each, ts in known.offered.items() if not known.is_excluded(each)}
    return is_news


def _project(root: str, around: Surroundings, before: Project | None, *, name: str | None, in_tree: bool) -> Project:
    if before is not None:
        if in_tree and not before.in_tree:
            raise RequestInvalid(
                "this project's notes lie in siftd's home", hint=f"move {before.folder} to .memory and exclude it first"
            )
        return before._replace(name=_name(name, root)) if name else before
    own = project_id(root)
    return Project(
        id=own,
        name=_name(name, root),
        path=root,
        workspace=find_workspace(root).key,
        folder=f"{root}/{IN_TREE}" if in_tree else Bookkeeping(around.home, own).files,
        registered_ts=around.clock.now_ms(),
        in_tree=in_tree,
    )


def _name(name: str | None, root: str) -> str:
    chosen = " ".join((name or Path(root).name).split())[:NAME_CHARS_MAX]
    return "".join(char for char in chosen if char.isprintable()) or "project"


def _scaffold(project: Project, today: str) -> list[str]:
    """Make what is missing; what is there stays as it is. Return the files that were made."""
    folder_mode = 0o755 if project.in_tree else 0o700
    for folder in (project.folder, f"{project.folder}/archive", project.inbox, f"{project.folder}/.model"):
        if Path(folder).is_symlink():
            raise RequestInvalid(f"{folder} is a link, and siftd follows none", hint="move it away")
        Path(folder).mkdir(mode=folder_mode, parents=True, exist_ok=True)
    texts = {
        project.file(name): document.render(
            Document((), f"# {_TITLES[name]}"), kind=name, project=project.name, updated=today
        )
        for name in NOTE_NAMES
    }
    texts[project.model_rules] = _STUB
    if project.in_tree:
        texts[f"{project.inbox}/.gitignore"] = _IGNORE
    return [path for path, text in texts.items() if _make(path, text, 0o644 if project.in_tree else 0o600)]


def _make(path: str, text: str, mode: int) -> bool:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    except FileExistsError:
        return False
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(descriptor)
    return True
