"""Issues, comments and jobs of other programs, as items of a team. No files, no sockets: text in, items out."""
