"""OpenCode: a plugin that runs inside it, and the database in which it keeps sessions."""
