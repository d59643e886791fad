"""SQLite files: opened, looked after when damaged or full, and the cache of results."""
