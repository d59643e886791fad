"""YouTube: its addresses, what it says of a video, captions, comments and playlists."""
