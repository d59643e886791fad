"""Contracts: the tests that all providers of a kind inherit."""
