"""The files that a statement names."""

from __future__ import annotations

import pytest

from siftd.facts.citations import PATHS_MAX, cited_files


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("Pens are made in `src/barn.py`.", ["src/barn.py"]),
        ("See ./docs/a-b.md, docs/a-b.md and tests/test_x.py::test_one.", ["docs/a-b.md", "tests/test_x.py"]),
        ("It is at https://example.org/a.html or /etc/passwd or ~/x/y.txt.", []),
        ("Never read ../secret/key.pem.", []),
        ("We use and/or, read/write, 3/4.", []),
        ("", []),
    ],
)
def test_paths_below_the_project_are_found_and_nothing_else(text: str, files: list[str]) -> None:
    assert cited_files(text) == files


def test_a_long_list_is_cut() -> None:
    assert len(cited_files(" ".join(f"src/f{number}.py" for number in range(99)))) == PATHS_MAX
