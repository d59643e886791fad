"""Values that fit a schema, each with the words that it came from."""
