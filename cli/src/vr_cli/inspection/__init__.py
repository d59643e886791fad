"""Inspects a plugin for its author: faults that the kernel refuses, and flaws that annoy users."""
