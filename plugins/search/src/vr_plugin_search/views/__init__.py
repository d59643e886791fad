"""Views of results and records."""
