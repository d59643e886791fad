"""The commands that are no plugin's."""
