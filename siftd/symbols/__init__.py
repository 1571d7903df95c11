"""Symbols: the names that a write to a code file defines or changes, and what such a file imports (`imports.py`).

Only fields that a live hook and a transcript both carry are read, so that capture and backfill stamp the same. A
subagent's transcript has no response; then the written text alone decides.
"""

from siftd.symbols.stamp import SYMBOLS_MAX, symbols_of

__all__ = ["SYMBOLS_MAX", "symbols_of"]
