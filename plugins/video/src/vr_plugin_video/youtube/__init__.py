"""YouTube: addresses, metadata, captions, comments, playlists and downloads."""
