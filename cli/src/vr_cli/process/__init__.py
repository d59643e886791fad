"""The process of a command: its event loop, streams, garbage and exit code."""
