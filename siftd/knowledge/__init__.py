"""The snapshot of what a codebase tells of itself: its parts, its ways in, its commands, each with what shows it.

Pure: files in, a `Snapshot` out. Nothing here runs what a project holds, believes it, or knows the store.
"""
