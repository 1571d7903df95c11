"""Claude Code: its hooks' envelopes, its transcripts, its tools, and how siftd is wired into it."""
