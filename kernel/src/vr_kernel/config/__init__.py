"""Settings: where they come from, and the folders of an installation."""
