"""Providers and models that are known, as data."""
