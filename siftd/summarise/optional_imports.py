"""Libraries of single backends: installed with siftd, imported when first used, in a thread beside the event loop."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from anyio import to_thread

from siftd.summarise.errors import ModelUnavailable

LIBRARIES = ("ollama", "anthropic")


def missing_library(name: str) -> str | None:
    """Return the remedy when a library is not installed, without importing it."""
    return None if name not in LIBRARIES or importlib.util.find_spec(name) else _remedy(name)


async def library(name: str) -> Any:
    """Import a library in a thread (it takes seconds); ModelUnavailable with the remedy when it is missing."""
    try:
        return await to_thread.run_sync(importlib.import_module, name)
    except ImportError:
        raise ModelUnavailable(_remedy(name)) from None


def _remedy(name: str) -> str:
    return f"the library {name} is missing: pip install {name}"
