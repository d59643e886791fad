"""Analyses of a document, with quotes that are checked against it."""
