"""Searches the web and papers through many services, joined into one list."""
