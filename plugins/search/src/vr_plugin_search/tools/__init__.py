"""The tools of the plugin, one a module."""
