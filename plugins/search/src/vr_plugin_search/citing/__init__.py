"""Papers in their relation to another one: who cites it, whom it cites, what is like it."""
