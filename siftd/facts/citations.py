"""The files that a statement names."""

from __future__ import annotations

_AROUND = "`'\"()[]{}<>,;:!?*"
PATHS_MAX = 16
PATH_CHARS_MAX = 300


def cited_files(text: str) -> list[str]:
    """Return what in a text looks like the path of a file below the project: each once, at most PATHS_MAX.

    A name with a folder and an extension, such as `src/app.py`; not an address, not a path from the root, nothing that
    leads out of the project.
    """
    found: dict[str, None] = {}
    for word in text.split():
        path = word.lstrip(_AROUND).rstrip(f"{_AROUND}.").partition("::")[0].removeprefix("./")
        head, _, name = path.rpartition("/")
        is_below = head and not path.startswith(("/", "~", "@", "-")) and ".." not in path.split("/")
        if is_below and "://" not in path and "." in name.strip(".") and len(path) <= PATH_CHARS_MAX:
            found[path] = None
        if len(found) == PATHS_MAX:
            break
    return list(found)
