"""Researches a question: claims with a tier, a confidence and quotes that were checked."""
