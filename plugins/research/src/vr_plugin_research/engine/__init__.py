"""Research from a question to a report, by its stages."""
