"""Every workspace of a home: listing them, asking each, stopping one."""
