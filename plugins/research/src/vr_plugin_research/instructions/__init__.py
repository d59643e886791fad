"""Instructions to language models, one module a task."""
