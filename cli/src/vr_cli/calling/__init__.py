"""Runs a tool as a command: arguments, ids, questions, the call, and its result as text."""
