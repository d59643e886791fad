"""Gathering: places that are searched, and sources that are loaded from wherever they are."""
