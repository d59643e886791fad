"""Documents, pages, pictures and folders for video-research."""
