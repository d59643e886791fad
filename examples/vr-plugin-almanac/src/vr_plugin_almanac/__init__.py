"""Questions about the year: an example of a plugin for video-research."""
