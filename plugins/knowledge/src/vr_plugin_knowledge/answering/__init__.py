"""Answers to questions, made of what was recorded, with quotes that were checked."""
