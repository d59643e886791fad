"""Many videos in one call: a folder of them, or a playlist."""
