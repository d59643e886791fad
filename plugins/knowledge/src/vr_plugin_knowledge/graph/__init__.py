"""The knowledge graph: concepts and how they relate, with the quotes that say so."""
