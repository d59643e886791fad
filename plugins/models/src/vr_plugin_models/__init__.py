"""Language models of many providers: OpenAI-compatible services, Azure, Anthropic, Ollama."""
