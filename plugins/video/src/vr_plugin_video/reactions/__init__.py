"""Results about YouTube videos: their metadata, and what viewers say of them."""
