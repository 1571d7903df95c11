"""GitHub Copilot in the terminal, and in VS Code, which reads the same hook files."""
