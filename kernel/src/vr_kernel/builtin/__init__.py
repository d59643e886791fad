"""The kernel's own tools, offered through the same hooks as any plugin's."""
