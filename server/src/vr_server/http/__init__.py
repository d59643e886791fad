"""The server over HTTP: who may ask, how much, how many at a time."""
