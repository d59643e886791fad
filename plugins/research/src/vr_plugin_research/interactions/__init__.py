"""Researches that the Gemini service does by itself, in the background."""
