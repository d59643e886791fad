"""Watch, transcribe and analyse videos for video-research."""
