"""Sources of a call: opened, checked, and known by their content before anything reads them."""
