"""Scenes of a video, their pictures, and the text on screen."""
