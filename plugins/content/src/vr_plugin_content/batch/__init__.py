"""Analyses of many files: each by itself, or all in one comparison."""
