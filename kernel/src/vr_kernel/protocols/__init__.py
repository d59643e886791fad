"""The kernel's services as plugins name them: a small protocol for each."""
