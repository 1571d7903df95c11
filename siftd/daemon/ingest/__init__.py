"""The hot path: captures in, one writer of log and database, what waits in spool and transcripts."""
