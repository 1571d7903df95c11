"""In which row of a matrix the vector of a summary is, four bytes an id.

A dict of two numbers takes 108 bytes an entry, in objects that lie all over the process: 108 MB of a million. Ids are
given one after the other, so the rows of `_PAGE` ids that begin with the same digits lie in one array.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
NOWHERE = -1
_PAGE = 1_024


class Places:
    """The rows, from 0 on without a gap, of so many ids."""

    def __init__(self) -> None:
        self._pages: dict[int, NDArray[np.int32]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def find(self, id_: int) -> int | None:
        """Return the row of an id, None when it has none."""
        page = self._pages.get(id_ // _PAGE)
        row = NOWHERE if page is None else int(page[id_ % _PAGE])
        return None if row == NOWHERE else row

    def find_all(self, ids: Sequence[int] | Ids) -> Ids:
        """Return the row of each id, `NOWHERE` of those that have none."""
        rows = np.full(len(ids), NOWHERE, dtype=np.int64)
        pages, places = np.divmod(np.asarray(ids, dtype=np.int64), _PAGE)
        for number in np.unique(pages).tolist():
            if (page := self._pages.get(number)) is not None:
                here = pages == number
                rows[here] = page[places[here]]
        return rows

    def add(self, ids: Sequence[int]) -> Ids:
        """Return the row of each of these ids, which are all different; those that have none get the next ones."""
        rows = self.find_all(ids)
        new = np.flatnonzero(rows == NOWHERE)
        rows[new] = np.arange(self._count, self._count + len(new))
        self._count += len(new)
        pages, places = np.divmod(np.asarray(ids, dtype=np.int64)[new], _PAGE)
        for number in np.unique(pages).tolist():
            here = pages == number
            self._page(number)[places[here]] = rows[new[here]]
        return rows

    def move(self, id_: int, row: int) -> None:
        """Give an id that has a row another one."""
        self._page(id_ // _PAGE)[id_ % _PAGE] = row

    def take_out(self, id_: int) -> int | None:
        """Take an id out and return the row that it had. Whoever has the last row is to be moved there."""
        if (row := self.find(id_)) is not None:
            self.move(id_, NOWHERE)
            self._count -= 1
        return row

    def clear(self) -> None:
        self._pages.clear()
        self._count = 0

    def _page(self, number: int) -> NDArray[np.int32]:
        if (page := self._pages.get(number)) is None:
            page = self._pages[number] = np.full(_PAGE, NOWHERE, dtype=np.int32)
        return page
