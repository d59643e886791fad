"""Answers to questions from recorded sources, with checked quotes."""
