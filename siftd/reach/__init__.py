"""From outside of any daemon: reaching that of a workspace, started if need be, or all of a home in turn."""
