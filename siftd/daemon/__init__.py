"""The daemon: one process per workspace that owns its log, its store and its socket."""
