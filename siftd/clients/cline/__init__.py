"""Cline: executables in its folder of hooks, and a document for each session."""
