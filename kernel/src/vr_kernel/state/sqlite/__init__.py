"""State in SQLite files of one machine, which processes share."""
