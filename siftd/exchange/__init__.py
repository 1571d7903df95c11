"""Exchange: everything of a store as lines of JSON, and back into a store that has a life of its own."""
