"""What a laptop and a team's server say to each other: items, and what carries them. No files, no sockets."""
