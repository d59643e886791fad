"""Contracts of the parts of a state, one module each."""
