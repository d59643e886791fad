"""Views at a terminal: what each block becomes, fitted to the window; rich draws the lines."""
