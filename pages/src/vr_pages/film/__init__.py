"""A film on a page: its player, the timeline, and the transcript that follows."""
