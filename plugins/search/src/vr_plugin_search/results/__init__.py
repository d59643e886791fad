"""The results of the tools."""
