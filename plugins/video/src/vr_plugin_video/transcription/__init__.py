"""Transcripts as results: by captions, by this machine or by a model, page by page."""
