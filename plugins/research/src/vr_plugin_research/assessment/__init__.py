"""One claim held against sources."""
