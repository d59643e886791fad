"""What an installation can do without: found, shown, removed."""
