"""Quotes: whether a text that is said to be one stands in a source, and where."""
