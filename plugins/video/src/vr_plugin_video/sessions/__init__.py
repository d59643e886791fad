"""Conversations about one video: kept, taken up again, and told in whole."""
