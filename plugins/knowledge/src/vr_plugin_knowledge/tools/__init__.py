"""The tools of the knowledge plugin."""
