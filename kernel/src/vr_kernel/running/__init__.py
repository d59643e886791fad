"""Calls under way: from arguments to outcome, jobs in the background, what others share."""
