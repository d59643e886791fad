"""The tools, one a module."""
