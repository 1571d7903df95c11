"""Moonshot's Kimi Code."""
