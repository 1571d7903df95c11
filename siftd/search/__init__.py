"""Search: what the indexes find, fused by rank, with the reasons."""
