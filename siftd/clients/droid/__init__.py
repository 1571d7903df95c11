"""Factory's droid."""
