"""Addresses: equal pages and papers are known by equal ones."""
