"""Reports checked again."""
