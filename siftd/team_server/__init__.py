"""The server of a team: the only client of PostgreSQL, and what laptops and programs ask over HTTP."""
