"""Search mode: the tools that fit a request, found by words and by meaning."""
