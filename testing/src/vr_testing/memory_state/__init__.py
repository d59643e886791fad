"""State in the memory of one process: plain, for tests, and lost with the process."""
