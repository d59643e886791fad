"""Looks a plugin over for its author: what the kernel refuses, and what its users would mind."""
