"""Plugins: found by their metadata, chosen, imported under a deadline, registered."""
