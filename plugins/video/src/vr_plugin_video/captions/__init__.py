"""Captions: read from files and streams, without repeated lines, and given in pages."""
