"""The kernel's side of a call: its services, what it produced, the commit of that, the cache."""
