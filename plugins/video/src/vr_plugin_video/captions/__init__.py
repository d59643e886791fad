"""Captions: read from files and streams, each line said once, and given in pages."""
