"""Sets the program up for a user: the entries of MCP clients, allowed folders, the key."""
