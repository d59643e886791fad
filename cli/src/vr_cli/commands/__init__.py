"""The commands that do not come from plugins."""
