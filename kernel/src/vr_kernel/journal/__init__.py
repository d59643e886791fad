"""What was recorded: the journal, and its way into the stores that follow it."""
