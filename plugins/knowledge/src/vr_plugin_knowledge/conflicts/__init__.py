"""Claims of records that contradict each other, as far as words tell; no model is asked."""
