"""Import of other programs' data, export of our own, and moves between stores."""
