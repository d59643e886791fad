"""Search: from a question to a page of hits."""
