"""Money before it is spent: the size of a request, budgets, and estimates of calls."""
