"""Passages: the chunks of a document that searches find."""
