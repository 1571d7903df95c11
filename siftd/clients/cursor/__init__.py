"""Cursor, by the shapes that its documentation and others' recordings publish: nothing of it could be run."""
