"""One workspace: which folder belongs to it, its files, its secret, its repository."""
