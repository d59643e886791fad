"""Media files: recognised by name, opened within bounds, probed and read stream by stream."""
