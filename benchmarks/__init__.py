"""Repeatable measurements against floors and peers: `python -m benchmarks [NAME ...]`."""
