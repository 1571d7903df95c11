"""The guard against a plain reading of the same paths by `os.path`: whatever a path is made of, both say the same."""

from __future__ import annotations

import os
import posix
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

HOOKS = Path(__file__).resolve().parents[2] / "hooks"
NAMES = (
    ".claude", "projects", "-a-project", "memory", "MEMORY.md", "topics", "home", "project", "link", "to-memory",
    "to-index", "vault", "..", ".", "", "agent-memory", "memory.md", "Memory",
)  # fmt: skip
paths = st.builds(
    lambda start, parts: start + "/".join(parts),
    st.sampled_from(["", "/", "~/", "{home}/", "{project}/", "{home}/.claude/projects/", "{memory}/", "./"]),
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=7),
)


class Place:
    """A home with auto memory and links into it and out of it, and the guard's own reading of paths."""

    def __init__(self, root: Path, is_auto_memory: Any) -> None:
        self.home, self.project = root / "home", root / "project"
        self.memory = self.home / ".claude" / "projects" / "-a-project" / "memory"
        self.vault = root / "vault"
        for folder in (self.memory / "topics", self.project / "memory", self.vault):
            folder.mkdir(parents=True)
        (self.memory / "MEMORY.md").touch()
        (self.project / "to-memory").symlink_to(self.memory)
        (self.project / "to-index").symlink_to("to-memory/MEMORY.md")
        (self.project / "link").symlink_to(self.project / "memory")
        (self.memory / "link").symlink_to(self.project)
        (self.home / "link").symlink_to(".claude/projects")
        (self.home / ".claude" / "settings.json").write_text(f'{{"autoMemoryDirectory": "{self.vault}"}}')
        self.refuses = is_auto_memory

    def is_in_it(self, path: str) -> bool:
        """Say by `os.path` whether a path leads into auto memory, as it is named or as it lies."""
        path = path.replace("~", str(self.home), 1) if path.startswith("~/") else path
        named = os.path.normpath(os.path.join(self.project, path))
        named = f"/{named.lstrip('/')}"  # two slashes at the beginning are one
        projects = f"{self.home}/.claude/projects"
        for way in (named, os.path.realpath(named)):
            parts = way.removeprefix(f"{projects}/").split("/") if way.startswith(f"{projects}/") else []
            if (len(parts) > 2 and parts[1] == "memory") or way.startswith(f"{self.vault}/"):
                return True
        return False


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HOOKS))
        from auto_memory import is_auto_memory  # type: ignore[import-not-found]

        made = Place(tmp_path_factory.mktemp("guard").resolve(), is_auto_memory)
        patch.chdir(made.project)
        patch.setitem(posix.environ, b"HOME", os.fsencode(made.home))
        patch.setitem(posix.environ, b"CLAUDE_PROJECT_DIR", os.fsencode(made.project))
        patch.delitem(posix.environ, b"CLAUDE_CONFIG_DIR", raising=False)
        yield made
    sys.modules.pop("auto_memory", None)


@settings(max_examples=600, deadline=None)
@given(path=paths)
def test_the_guard_refuses_what_leads_into_auto_memory_and_nothing_else(place: Place, path: str) -> None:
    path = path.format(home=place.home, project=place.project, memory=place.memory)
    assert place.refuses(path, str(place.project)) == place.is_in_it(path)


@settings(max_examples=200, deadline=None)
@given(path=st.text(max_size=60))
def test_any_text_is_a_path_that_passes(place: Place, path: str) -> None:
    try:
        refused = place.refuses(path, str(place.project))
    except ValueError:  # nothing that a file can be called: the script lets it pass
        return
    assert refused == place.is_in_it(path)
