"""The background work on what was captured: drain, embed, supersede."""
