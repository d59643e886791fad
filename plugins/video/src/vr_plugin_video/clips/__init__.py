"""Clips: a part of a video as a file of its own, a film, a sound, an animation or a picture."""
