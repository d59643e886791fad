"""Services that speak OpenAI's protocol of chat completions."""
