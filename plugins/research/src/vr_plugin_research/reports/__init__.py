"""Reports as they are recorded."""
