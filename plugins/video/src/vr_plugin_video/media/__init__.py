"""Media files: told by their names, opened within bounds, probed and read stream by stream."""
