"""The kernel's side of a call: the services behind it, what it produced, and the commit of that."""
