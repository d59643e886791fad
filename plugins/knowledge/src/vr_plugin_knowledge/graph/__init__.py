"""The knowledge graph: concepts and how they relate, with quotes as evidence."""
