"""Results and records of videos as people see them: at a terminal, on a page, as text."""
