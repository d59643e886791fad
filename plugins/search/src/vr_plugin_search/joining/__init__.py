"""Searches that ask several services, and join what they found into one list."""
