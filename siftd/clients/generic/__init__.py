"""People's own agents and scripts: lines of JSON that anything can write."""
