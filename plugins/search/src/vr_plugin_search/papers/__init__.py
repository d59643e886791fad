"""Papers: queries for them, and their forms as results of a search and as records."""
