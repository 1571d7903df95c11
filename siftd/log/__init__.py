"""The write-ahead log: the truth that everything else is derived from."""
