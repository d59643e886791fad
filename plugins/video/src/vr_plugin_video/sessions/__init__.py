"""Conversations about one video: kept, continued and exported."""
