"""Wiring siftd into an agent's own settings, and taking it out again without a trace.

`wiring` installs and uninstalls, `manifest` remembers what that changed, `claude_code` knows what is written,
`settings_edit` writes it between the bytes that are there, `doctor` says what is wrong with it, `slash` reads
what a person typed behind `/mem`.
"""
