"""Google's Antigravity, by the shapes that others have published: nothing of it ran here."""
