"""Ollama, through its own API.

Its OpenAI-compatible one takes no length of context and cuts a request at 4,096 tokens without a
word.
"""
