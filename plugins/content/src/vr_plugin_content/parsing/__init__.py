"""Processes that parse files of strangers, within limits of time and memory."""
