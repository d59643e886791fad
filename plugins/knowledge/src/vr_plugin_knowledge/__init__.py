"""Search, fetch and fill the knowledge base of video-research."""
