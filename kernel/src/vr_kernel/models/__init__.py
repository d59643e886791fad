"""Language models: the one door to them, and what comes between a question and its answer."""
