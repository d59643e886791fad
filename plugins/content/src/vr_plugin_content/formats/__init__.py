"""Formats: how each kind of file becomes pieces of text with exact places."""
