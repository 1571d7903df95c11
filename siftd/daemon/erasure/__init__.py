"""Forgetting, scrubbing and hiding, down to the last byte of every file."""
