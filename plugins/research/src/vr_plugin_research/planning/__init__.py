"""Plans: made, priced, recorded and found again."""
