"""Results of the tools, as models."""
