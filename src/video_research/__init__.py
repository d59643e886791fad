"""The whole of video-research in one installation, with a demonstration."""
