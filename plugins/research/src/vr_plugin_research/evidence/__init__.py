"""Evidence: quotes looked up, tiers, quality of sources, contradictions."""
