"""The store: one SQLite database per workspace. All SQL of siftd lives in this room."""
