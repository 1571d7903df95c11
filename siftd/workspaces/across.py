"""One question put to every workspace of the home, one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from siftd.config import is_excluded
from siftd.errors import DaemonTimedOut, DaemonUnreachable, RequestInvalid
from siftd.wire.asking import message_of
from siftd.wire.workspace_client import WorkspaceClient
from siftd.workspace.home import load_settings
from siftd.workspace.identity import Workspace, path_from_text
from siftd.workspace.paths import GLOBAL
from siftd.workspaces.listing import Known, iter_known
from siftd.workspaces.stopping import end_borrowed

if TYPE_CHECKING:
    from siftd.wire.requests import DocumentHit, Found, Hit, NoteHit, Search

NOTES_MAX = DOCUMENTS_MAX = 3
"""Of all workspaces, as of one."""


def search_every_project(asking: WorkspaceClient, request: Search) -> Found:
    """Return the best hits of all workspaces, each with its `workspace`: scores are made alike in each.

    A daemon that is started for it ends again: there is one a workspace. What is kept for every project is found by
    each, and told once. What is excluded is not asked: nothing is started there.
    """
    hits: dict[tuple[str, str], Hit] = {}
    notes: list[NoteHit] = []
    documents: list[DocumentHit] = []
    degraded: list[str] = []
    clients: set[str] = set()
    for known, root in _iter_askable(asking):
        if not os.path.isdir(root):  # noqa: PTH112 - a text, as everywhere in `mem`
            degraded.append(f"without {root}, which is gone (`mem workspaces adopt {known.key}`)")
            continue
        theirs = _client(asking, known, root)
        was_running = theirs.is_running()
        try:
            answer = theirs.ask(request)
        except (DaemonUnreachable, DaemonTimedOut) as error:
            degraded.append(f"without {root}: {error.message}")
            continue
        finally:
            if not was_running and theirs.paths.key != asking.paths.key:
                end_borrowed(theirs.paths)
        clients |= set(answer["clients"])
        for hit in answer["hits"]:
            is_shared = hit["id"].startswith("g")
            placed: Hit = hit if is_shared else {**hit, "workspace": root}
            hits.setdefault(("" if is_shared else root, hit["id"]), placed)
        notes += [{**note, "workspace": root} for note in answer["notes"]]
        documents += [{**document, "workspace": root} for document in answer["documents"]]
        if answer["degraded"]:
            degraded.append(f"{root}: {answer['degraded']}")
    asked = message_of(request)
    best = sorted(hits.values(), key=lambda hit: -hit["score"])[: asked["k"]]
    documents.sort(key=lambda document: -document["score"])
    most = asked["k"] if asked.get("filters", {}).get("kind") == "document" else DOCUMENTS_MAX
    notes.sort(key=lambda note: (note["archived"], -note["score"]))
    return {
        "hits": best,
        "notes": notes[:NOTES_MAX],
        "documents": documents[:most],
        "degraded": "; ".join(degraded) or None,
        "clients": sorted(clients),
    }


def find_workspace_at(asking: WorkspaceClient, folder: str) -> WorkspaceClient:
    """Return the workspace of a folder that has a memory here. Raises RequestInvalid where there is none."""
    for known, root in _iter_askable(asking):
        if root == folder and os.path.isdir(root):  # noqa: PTH112 - as above
            return _client(asking, known, root)
    raise RequestInvalid("no project of that folder has a memory", hint="cite an id as a search gave it")


def _iter_askable(asking: WorkspaceClient) -> Iterator[tuple[Known, str]]:
    """Yield the workspaces that hold anything and are not excluded, with their folders."""
    settings = load_settings(asking.home).settings
    for known in iter_known(asking.home):
        if known.key == GLOBAL or known.root is None or not known.events:
            continue
        root = path_from_text(known.root)
        if not is_excluded(root, settings):
            yield known, root


def _client(asking: WorkspaceClient, known: Known, root: str) -> WorkspaceClient:
    return WorkspaceClient(asking.home, Workspace(root, known.key), asking.environ)
