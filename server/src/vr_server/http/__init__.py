"""The server over HTTP: tokens, and limits on requests, connections and sessions."""
