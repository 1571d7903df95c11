"""Overwriting what a database's pages hold beside their content: free pages, the gap in a page, its freed blocks.

Deleted text stays there, `secure_delete` or not: when SQLite divides or joins pages it leaves copies of the cells that
it moved. VACUUM writes everything anew, in as long as that takes; this looks at each page once and writes the few that
need it. By the file format (https://sqlite.org/fileformat2.html, "B-tree Pages", "The Freelist"); nothing that a reader
looks at changes, so a page that is only half written when the power goes is whole all the same.

Run as a program of its own, by path, while the caller holds the write lock of the database and its log is empty: a
process that closes a file loses all its locks on it, and the daemon's own would be among them. Imports next to nothing.
"""

from __future__ import annotations

import mmap
import os
import sys

_TABLE_LEAF, _INDEX_LEAF, _TABLE_INNER, _INDEX_INNER = 13, 10, 5, 2
_HEADER_BYTES = {_TABLE_LEAF: 8, _INDEX_LEAF: 8, _TABLE_INNER: 12, _INDEX_INNER: 12}
"""By a page's first byte. One that begins otherwise holds the rest of what is too long for a page of a tree."""
_FILE_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"
_AUTOVACUUM_AT = 52


class NotUnderstood(Exception):
    """The file is not what this module knows: nothing was written."""


def overwrite_slack(path: str) -> int:
    """Overwrite with zeros whatever is beside the content, and sync; return how many pages that concerned."""
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        with mmap.mmap(descriptor, 0, prot=mmap.PROT_READ) as data:
            changed = 0
            for offset, page in _cleaned(data):
                os.pwrite(descriptor, page, offset)
                changed += 1
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return changed


def _cleaned(data: mmap.mmap):  # type: ignore[no-untyped-def]  # typing alone would double the start of this program
    """Yield (offset, page) of every page that holds something beside its content, without that."""
    size = int.from_bytes(data[16:18], "big")
    size = 65536 if size == 1 else size
    if data[:16] != _MAGIC or len(data) % size or int.from_bytes(data[_AUTOVACUUM_AT : _AUTOVACUUM_AT + 4], "big"):
        raise NotUnderstood
    usable = size - data[20]
    pages = len(data) // size
    free = _free_pages(data, size, pages)
    ends = _overflow_ends(data, size, usable, free)
    for number in range(1, pages + 1):
        start = (number - 1) * size
        page = data[start : start + size]
        if (left := free.get(number, ends.get(number))) is not None:
            clean = page[:left] + bytes(size - left)
        else:
            clean = _without_gaps(page, number, usable)
        if clean != page:
            yield start, clean


def _free_pages(data: mmap.mmap, size: int, pages: int) -> dict[int, int]:
    """Return the free pages, each with the bytes at its beginning that the freelist itself needs."""
    found: dict[int, int] = {}
    trunk = int.from_bytes(data[32:36], "big")
    while trunk and trunk not in found:
        if trunk > pages:
            raise NotUnderstood
        start = (trunk - 1) * size
        following = int.from_bytes(data[start : start + 4], "big")
        count = int.from_bytes(data[start + 4 : start + 8], "big")
        if 8 + 4 * count > size:
            raise NotUnderstood
        found[trunk] = 8 + 4 * count
        for at in range(start + 8, start + 8 + 4 * count, 4):
            found[int.from_bytes(data[at : at + 4], "big")] = 0
        trunk = following
    return found


def _overflow_ends(data: mmap.mmap, size: int, usable: int, free: dict[int, int]) -> dict[int, int]:
    """Return the last page of each chain of overflow pages, and where in it the content ends.

    Only the cell that a chain belongs to tells its length, so where there are chains every cell is looked at.
    """
    pages = len(data) // size
    starts = range(0, len(data), size)
    if not any(data[start] == 0 and start // size + 1 not in free for start in starts[1:]):
        return {}
    ends = {}
    for number in range(1, pages + 1):
        if number not in free:
            start = (number - 1) * size
            for first, rest in _long_cells(data[start : start + size], number, usable):
                page = first
                while 0 < page <= pages and rest > usable - 4:
                    page = int.from_bytes(data[(page - 1) * size : (page - 1) * size + 4], "big")
                    rest -= usable - 4
                if not 0 < page <= pages:
                    raise NotUnderstood
                ends[page] = 4 + rest
    return ends


def _long_cells(page: bytes, number: int, usable: int):  # type: ignore[no-untyped-def]  # as above
    """Yield (first overflow page, bytes in the chain) of each cell that is too long for its page."""
    header = _FILE_HEADER_BYTES if number == 1 else 0
    kind = page[header]
    if kind not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER):
        return
    is_table = kind == _TABLE_LEAF
    most = usable - 35 if is_table else (usable - 12) * 64 // 255 - 23
    least = (usable - 12) * 32 // 255 - 23
    pointers = header + _HEADER_BYTES[kind]
    for at in range(pointers, pointers + 2 * int.from_bytes(page[header + 3 : header + 5], "big"), 2):
        cell = int.from_bytes(page[at : at + 2], "big") + (4 if kind == _INDEX_INNER else 0)
        length, cell = _varint(page, cell)
        if length > most:
            if is_table:
                _, cell = _varint(page, cell)
            local = least + (length - least) % (usable - 4)
            local = local if local <= most else least
            yield int.from_bytes(page[cell + local : cell + local + 4], "big"), length - local


def _varint(page: bytes, at: int) -> tuple[int, int]:
    """Return the number that begins here, and where it ends."""
    value = 0
    for place in range(at, at + 8):
        value = value << 7 | page[place] & 0x7F
        if page[place] < 0x80:
            return value, place + 1
    return value << 8 | page[at + 8], at + 9


def _without_gaps(page: bytes, number: int, usable: int) -> bytes:
    """Return a page of a tree with zeros between its cell pointers and its cells, and in its freed blocks."""
    header = _FILE_HEADER_BYTES if number == 1 else 0
    header_bytes = _HEADER_BYTES.get(page[header])
    if header_bytes is None:
        return page
    freed = int.from_bytes(page[header + 1 : header + 3], "big")
    gap = header + header_bytes + 2 * int.from_bytes(page[header + 3 : header + 5], "big")
    cells = int.from_bytes(page[header + 5 : header + 7], "big") or 65536
    if not gap <= cells <= usable:
        raise NotUnderstood
    spans = [(gap, cells)]
    while freed:
        following = int.from_bytes(page[freed : freed + 2], "big")
        length = int.from_bytes(page[freed + 2 : freed + 4], "big")
        if freed < cells or freed + length > usable or (following and following <= freed):
            raise NotUnderstood
        spans.append((freed + 4, freed + length))
        freed = following
    clean = page
    for start, end in spans:
        if clean.count(0, start, end) != end - start:
            clean = clean[:start] + bytes(end - start) + clean[end:]
    return clean


if __name__ == "__main__":
    overwrite_slack(sys.argv[1])
