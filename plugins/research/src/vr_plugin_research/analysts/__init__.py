"""Analysts: a language model, or likeness of words where there is none."""
