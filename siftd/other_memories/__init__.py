"""What other memories keep, read from their own files: a small reader for each, and one list of them."""
