"""Documents: what is read from a file, a folder or a URL that somebody names, and the chunks that it is found by.

Pure: it knows no database, no socket and no daemon. Whoever ingests reads here; the daemon redacts what was read, and
only then has it split, for a secret may lie across two chunks.
"""
