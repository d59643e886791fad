"""Text as people, models and logs may get it: without secrets, without signs that nobody sees."""
