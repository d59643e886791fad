"""Daylight over a city: an example of a plugin for video-research."""
