"""What `mem doctor` finds at one link of the chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "problem"]
"""A note is worth knowing and nothing is wrong with it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One link of the chain, what is the matter with it, and what to do."""

    link: str
    state: State
    message: str
    remedy: str = ""
