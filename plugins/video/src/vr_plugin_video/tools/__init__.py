"""The tools, one per module."""
