"""Folders and repositories as one document."""
