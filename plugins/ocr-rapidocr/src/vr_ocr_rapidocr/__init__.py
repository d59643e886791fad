"""Reads text in pictures with RapidOCR for video-research."""
