"""pi: an extension that runs inside it, and the JSON lines in which it keeps sessions."""
