"""What is worth saying about one link of the chain. A plain class: `mem info` would pay 10 ms for `dataclasses`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    State = Literal["ok", "note", "problem"]


class Finding:
    """One link of the chain, what is the matter with it, and what to do. A note says that nothing is wrong."""

    __slots__ = ("link", "message", "remedy", "state")

    def __init__(self, link: str, state: State, message: str, remedy: str = "") -> None:
        self.link = link
        self.state = state
        self.message = message
        self.remedy = remedy

    def as_json(self) -> dict[str, Any]:
        return {"link": self.link, "state": self.state, "message": self.message, "remedy": self.remedy or None}
