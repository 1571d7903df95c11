"""What manifests and settings of tools declare, one module for each ecosystem; nothing of it is run."""
