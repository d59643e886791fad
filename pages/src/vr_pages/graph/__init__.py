"""A graph on a page: things and their relations."""
