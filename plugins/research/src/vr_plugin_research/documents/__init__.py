"""Research about given documents."""
