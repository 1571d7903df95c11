"""Facts: what is read out of a turn's words, and what becomes of it beside what is known. Pure functions alone."""
