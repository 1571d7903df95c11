"""Libraries that only some backends need: imported when first used, beside the event loop, and told when missing."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from anyio import to_thread

from siftd.summarise.errors import ModelUnavailable

REMEDIES = {
    "ollama": "the library ollama is missing: pip install 'siftd-memory[ollama]'",
    "anthropic": "the library anthropic is missing: pip install 'siftd-memory[anthropic]'",
}


def missing_library(name: str) -> str | None:
    """Return the remedy when a library is not installed, without importing it."""
    return None if name not in REMEDIES or importlib.util.find_spec(name) else REMEDIES[name]


async def library(name: str) -> Any:
    """Import a library in a thread (it takes seconds); ModelUnavailable with the remedy when it is missing."""
    try:
        return await to_thread.run_sync(importlib.import_module, name)
    except ImportError:
        raise ModelUnavailable(REMEDIES[name]) from None
