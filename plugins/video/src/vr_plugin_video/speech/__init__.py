"""Speech in a video: recognised on this machine, or written down by a model."""
