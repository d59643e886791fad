"""Reads text in pictures with an installed Tesseract for video-research."""
