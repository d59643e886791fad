"""Rerankers, which score how well texts answer a question: a service, local models, a judge."""
