"""The server over stdio: its streams, and the requests that wait for an answer."""
