"""Functions as models: arguments by name, and the JSON schemas of both ends."""
