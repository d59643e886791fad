"""Items that are embedded and ranked, texts and pictures, and their acceptance by providers."""
