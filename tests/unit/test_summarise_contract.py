"""The contract between the consolidator and its backends."""

from __future__ import annotations

import hashlib

from siftd.summarise.contract import cache_key


def test_cache_key_is_the_hash_that_the_store_documents() -> None:
    expected = hashlib.sha256(b"extractive:1|abc|def").hexdigest()
    assert cache_key("extractive:1", "abc", "def") == expected
