"""A `crontab` for tests: the real one has but one table, which is somebody's."""

from __future__ import annotations

CRONTAB = """#!/bin/sh
# Keeps a table as crontab(1) does, in a file of the test.
table=${0%/*}/table
case "$1" in
-l) test -e "$table" && cat "$table" || { echo "no crontab for somebody" >&2; exit 1; } ;;
-r) rm "$table" ;;
-) cat > "$table" ;;
esac
"""
