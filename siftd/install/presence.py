"""Whether a program is on this machine, as far as its folder or its name on the PATH tells. Nothing is run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path


def is_present(environ: Mapping[str, str], *, folders: Iterable[str] = (), programs: Iterable[str] = ()) -> bool:
    """Whether one of `folders` is there, or one of `programs` on the PATH."""
    path = environ.get("PATH", os.defpath)
    return any(Path(folder).is_dir() for folder in folders) or any(shutil.which(name, path=path) for name in programs)
