"""The dossier of a piece of research, and its homes."""
