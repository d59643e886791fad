"""Formats whose parsers do harm."""
