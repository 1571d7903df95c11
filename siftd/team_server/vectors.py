"""pgvector's `halfvec` for psycopg, and the vectors of items: float16, little-endian in JSON, big-endian in PostgreSQL.

halfvec, binary: 2 bytes the number of dimensions, 2 bytes zero, then each float16, all big-endian
"""

from __future__ import annotations

import base64
import binascii
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import psycopg
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo

from siftd.team.items import DIMENSIONS_MAX


@dataclass(frozen=True, slots=True)
class HalfVector:
    """A vector as PostgreSQL takes it."""

    data: bytes
    """Little-endian float16."""

    @property
    def dimensions(self) -> int:
        return len(self.data) // 2

    def text(self) -> str:
        """Return it as pgvector prints it."""
        return "[" + ",".join(map(repr, np.frombuffer(self.data, "<f2").astype(float).tolist())) + "]"


def decode(data: str) -> HalfVector | None:
    """Return the vector of an item; None for one that is none, or that has no direction."""
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None
    if not raw or len(raw) % 2 or len(raw) // 2 > DIMENSIONS_MAX:
        return None
    numbers = np.frombuffer(raw, "<f2")
    return HalfVector(raw) if np.isfinite(numbers).all() and numbers.any() else None


def from_numbers(numbers: Any) -> HalfVector:
    """Return the vector of a row of numbers."""
    return HalfVector(np.asarray(numbers, dtype="<f2").tobytes())


class _BinaryDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: HalfVector) -> Buffer:
        return struct.pack(">hh", obj.dimensions, 0) + np.frombuffer(obj.data, "<f2").astype(">f2").tobytes()


class _BinaryLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> HalfVector:
        return HalfVector(np.frombuffer(bytes(data)[4:], ">f2").astype("<f2").tobytes())


class _TextLoader(Loader):
    def load(self, data: Buffer) -> HalfVector:
        text = bytes(data).decode().strip("[]")
        return from_numbers([float(each) for each in text.split(",")])


async def register_vectors(connection: psycopg.AsyncConnection[Any]) -> None:
    """Teach a connection the type, where the database has it."""
    cursor = connection.cursor(row_factory=psycopg.rows.tuple_row)
    await cursor.execute("SELECT oid, typarray FROM pg_type WHERE typname = 'halfvec' LIMIT 1")
    row = await cursor.fetchone()
    if row is None:
        return
    info = TypeInfo("halfvec", row[0], row[1])
    info.register(connection)
    dumper = type("HalfVectorDumper", (_BinaryDumper,), {"oid": info.oid})
    connection.adapters.register_dumper(HalfVector, dumper)
    connection.adapters.register_loader(info.oid, _BinaryLoader)
    connection.adapters.register_loader(info.oid, _TextLoader)
