"""Tools, prompts and resources of plugins as FastMCP lists and calls them."""
