"""Results of the content tools."""
