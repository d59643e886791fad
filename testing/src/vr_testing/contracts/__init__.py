"""Contracts: the tests that every provider of a kind inherits."""
