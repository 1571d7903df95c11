"""A manifest is read within a bounded time, whatever its keys are; one with many dependencies in a line is read."""

from __future__ import annotations

import pytest

from siftd.foreign_toml import loads

PARTS = "a." * 20_000


@pytest.mark.parametrize(
    "text",
    [
        f"{PARTS}b = 1\n",
        f"[{PARTS}b]\n",
        f'"\\"".{PARTS}"b" = 1\n',
        f'x = {{a = """ " """, {PARTS}b = "1"}}\n',
        f'x = {{a = """\n""", {PARTS}b = "1"}}\n',
        ("a." * 2_000 + "b = 1\n") * 10,
    ],
    ids=["key", "header", "behind an escaped quote", "behind a string", "behind a string of two lines", "many lines"],
)
def test_keys_of_very_many_parts_are_refused_wherever_they_stand(text: str) -> None:
    with pytest.raises(ValueError, match="too many parts"):
        loads(text)


def test_what_is_nested_too_deeply_is_refused_as_what_is_no_toml() -> None:
    with pytest.raises(ValueError, match="nested"):
        loads(f"a = {'[' * 100_000}")
    with pytest.raises(ValueError, match="Invalid"):
        loads("a = ")


def test_a_thousand_dependencies_in_one_line_are_read() -> None:
    listed = ", ".join(f'"package{number}>=1.2.{number}"' for number in range(1_000))
    assert len(loads(f"[project]\ndependencies = [{listed}]\n")["project"]["dependencies"]) == 1_000
