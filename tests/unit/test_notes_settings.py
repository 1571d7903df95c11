"""The settings of notes."""

from __future__ import annotations

import pytest

from siftd import config
from siftd.errors import ConfigInvalid


def test_budgets_are_merged_key_by_key_and_know_no_other_file() -> None:
    values = config.parse_file('{"notes": {"budgets": {"state": 5000}}}')
    assert values["notes.budgets"] == {"state": 5_000, "decisions": 12_000, "todo": 10_000, "mistakes": 22_000}
    assert config.parse_flags(['notes.budgets={"todo": 9}'])["notes.budgets"]["todo"] == 9
    with pytest.raises(ConfigInvalid, match="knows no 'diary'"):
        config.check("notes.budgets", {"diary": 5_000})
    for wrong in ({"state": 0}, {"state": "5"}, [5_000], 5_000):
        with pytest.raises(ConfigInvalid, match="whole numbers above 0"):
            config.check("notes.budgets", wrong)
