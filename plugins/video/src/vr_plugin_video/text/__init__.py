"""Plain text and times, as results show them."""
