"""One question put to every workspace of the home, one after the other."""

from __future__ import annotations

import os
from typing import Any

from siftd.cli.context import Context
from siftd.cli.known import iter_known
from siftd.cli.stop import end_borrowed
from siftd.config import is_excluded
from siftd.errors import DaemonTimedOut, DaemonUnreachable
from siftd.home import load_settings
from siftd.paths import GLOBAL
from siftd.workspace import Workspace, path_from_text


def search_everywhere(context: Context, request: dict[str, Any]) -> dict[str, Any]:
    """Return the best hits of all workspaces, each with its `workspace`: scores are made alike in each.

    A daemon that is started for it ends again: there is one a workspace. What is kept for every project is found by
    each, and told once. What is excluded is not asked: nothing is started there.
    """
    settings = load_settings(context.home).settings
    hits: dict[tuple[str, str], dict[str, Any]] = {}
    degraded: list[str] = []
    for known in iter_known(context.home):
        if known.key == GLOBAL or known.root is None or not known.events:
            continue
        root = path_from_text(known.root)
        if is_excluded(root, settings):
            continue
        if not os.path.isdir(root):  # noqa: PTH112 - a text, as everywhere in `mem`
            degraded.append(f"without {root}, which is gone (`mem workspaces adopt {known.key}`)")
            continue
        theirs = Context(context.home, Workspace(root, known.key), context.environ, context.user_home)
        was_running = theirs.is_running()
        try:
            answer = theirs.ask(request)
        except (DaemonUnreachable, DaemonTimedOut) as error:
            degraded.append(f"without {root}: {error.message}")
            continue
        finally:
            if not was_running:
                end_borrowed(theirs.paths)
        for hit in answer["hits"]:
            is_shared = hit["id"].startswith("g")
            hits.setdefault(("" if is_shared else root, hit["id"]), hit | ({} if is_shared else {"workspace": root}))
        if answer["degraded"]:
            degraded.append(f"{root}: {answer['degraded']}")
    best = sorted(hits.values(), key=lambda hit: -hit["score"])[: request["k"]]
    return {"hits": best, "degraded": "; ".join(degraded) or None}
