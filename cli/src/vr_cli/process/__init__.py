"""The process of a command: its event loop, streams, garbage collection and exit code."""
