"""Long calls as tasks of the protocol."""
